"""The passes of batch normalisation over channels-last maps, each the start of one program."""
