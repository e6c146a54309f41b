"""Cases measured one after another; those that the result file holds are not measured again."""

import json

from records import Arguments, known


def arguments(doc, results, cases):
    """What scripts of such cases are told."""
    made = Arguments(doc, results)
    made.add_argument("--short", action="store_true", help="three runs a case, kept nowhere")
    made.when_small(short=True, only=[next(iter(cases))])
    made.add_argument("--runs", type=int, default=20, help="of each case")
    made.add_argument("--fresh", action="store_true", help="run again what FILE holds")
    made.add_argument("--only", choices=cases, action="append", help="this case alone")
    return made


def run_cases(args, order, chosen, run_case, show):
    """Measure what is chosen and missing; keep the file in order; show each line, then all."""
    kept = [] if args.short else known(args.output)
    kept = [line for line in kept if not (args.fresh and line["case"] in chosen)]
    for name in chosen:
        if any(line["case"] == name for line in kept):
            continue
        line = run_case(name, runs=3 if args.short else args.runs)
        kept.append(line)
        print(show(line), flush=True)
        if not args.short:
            kept.sort(key=lambda own: order.index(own["case"]))
            args.output.write_text("".join(json.dumps(own) + "\n" for own in kept))
    print("", *map(show, kept), sep="\n")
