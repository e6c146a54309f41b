"""What people look at: tables, pictures, the report's page. The only place with units in text."""
