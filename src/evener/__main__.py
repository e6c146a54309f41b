"""`python -m evener` is `evener`."""

import sys

from evener.cli import main

sys.exit(main())
