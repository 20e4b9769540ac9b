"""The cases of Rai's modern half, a file per section of the document or per thing it speaks of."""
