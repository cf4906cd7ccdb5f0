"""Pieces of reports that migrate and rehearse have in common: the page, SARIF, words."""
