"""How `names.py` knows what a name is: scan each file, then follow bindings and imports."""
