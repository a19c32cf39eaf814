"""Mutants that no test can or should notice, each with the reason."""

from __future__ import annotations

_TITLE = "the title of a progress bar"
_BLOCK = "the size of a block changes no result"
_WAY = "other steps to the same minimum"
_SEED = "any seed will do, as long as it stays the same"
_LOOKED_AT = "a few more numbers are looked at, and stay as they are"
_GROWTH = "how far an array grows ahead changes no result"
_NAME_IN_HASH = "names of fields in a hash; another one finds no older entry, and all are read again"
_TWO = "there are two sides, and two of what belongs to them"
_ANY_NEGATIVE = "NumPy takes any negative length as the one to work out"
_EQUAL = "of equally good ones any may stay"
_OPENED = "more groups are opened than need be"
_BOTH_WAYS = "both ways find the same"
_FLOOR = "any number below a column's best values will do"
_INDEX = 'key = _digest({"options": options.record(), "head": head, "reader": READER_VERSION})'
_OPEN = "open_ = (scores[:, -1] <= values[:, -1] + slack).nonzero()[:, 0] if k < len(candidates) else rows.new_empty(0)"
_ENTRY = _INDEX.replace('"head": head', '"sha256": source.digest, "whole": whole')
_TOGETHER = "which pairs are in a block changes no result"
_TYPE_NAME = "only checkers of types read the name"
_FACTORS = "_FACTORS = 0xBF58476D1CE4E5B9 - (1 << 64), 0x94D049BB133111EB - (1 << 64)  # of 64 bits, as signed numbers"

ACCEPTED: dict[str, dict[str, str]] = {
    "confidence": {
        "_STEPS = 50 => 50 to 51": "a dozen are enough",
        "step = torch.linalg.solve((x.T * (p * (1 - p))) @ x + torch.diag(penalty + _TINY), gradient)"
        " => Add to Sub #2": _WAY,
        "while loss(w - step) > loss(w) and step.abs().max() > _TINY: => Gt to GtE": _WAY,
        "while loss(w - step) > loss(w) and step.abs().max() > _TINY: => Gt to GtE #2": _WAY,
        "step = step / 2 => 2 to 3": _WAY,
        "if step.abs().max() <= _TINY: => LtE to Lt": _WAY,
        "break => Break to Continue": "steps after the last change nothing",
    },
    "lexicon": {
        "return np.asarray(known, dtype=np.int64).reshape(-1, 2) => 1 to 2": _ANY_NEGATIVE,
        "return np.asarray(kept, dtype=np.int64).reshape(-1, 2) => 1 to 2": _ANY_NEGATIVE,
    },
    "evaluate.groups": {
        "np.asarray([_holds(words, row.source) for row, words in zip(rows, found, strict=True)], dtype=np.bool_)"
        " => True to False": "both are made from the same rows, so they have one length",
    },
    "evaluate.scores": {
        "_RESAMPLES = 1000 => 1000 to 1001": "one resample more moves an interval by less than its own noise",
        "padded = torch.tensor([rows + [-1] * (width - len(rows)) for rows in wanted.values()], device=words.device)"
        " => 1 to 2": "any negative row stands for none",
        "for (word, right), rank, answer, own in zip(wanted.items(), ranks, hits.rows.tolist(), sure, strict=True):"
        " => True to False": "all have one entry per word",
        "def compare(a: Evaluation, b: Evaluation, level: float = 0.95, seed: int = 0) -> Comparison: => 0 to 1": _SEED,
    },
    "induce": {
        "_SHORTLIST = 32  # nearest candidates kept for each word, among which its best one by CSLS nearly always is"
        " => 32 to 33": "a longer list is slower, not better",
        "_ROWS = 8192  # lists looked at together => 8192 to 8193": _BLOCK,
        'source, target, max(_SHORTLIST, neighbours + 1, count), title="inducing", **kwargs => 1 to 2': "a longer list",
        "forward = _best(source[:max_rank], target, r_target / -2, near, backward_near, count, **kwargs)"
        " => slice dropped": "only the words that have lists are looked at",
        'source, target, max(_SHORTLIST, neighbours + 1, count), title="inducing", **kwargs'
        " => 'inducing' changed": _TITLE,
    },
    "judge.calibration": {
        "_START, _PENALTY = (1.0, 0.0), (1.0, _EDGE)  # of slope and bias: where they begin, and what it costs to leave"
        " => 0.0 to 1.0": "to leave where the bias begins costs a millionth",
        "_ROUNDS = 50 => 50 to 51": "a dozen are enough",
        "if w[0] < _EDGE:  # a larger softmax never means a smaller probability: only the bias is learnt"
        " => Lt to LtE": "both sides of the edge are the same there",
        **{
            f"p = torch.sigmoid(x @ w).clamp(_EDGE, 1 - _EDGE) => {change}": "the loss ends there, and so do steps"
            for change in ("Sub to Add", "1 to 2")
        },
        "now, best = _loss(w, x, y), _loss(w - step, x, y) => Sub to Add": _WAY,
        "while best > now and step.abs().max() > _EDGE: => Gt to GtE": _WAY,
        "while best > now and step.abs().max() > _EDGE: => Gt to GtE #2": _WAY,
        "step = step / 2 => 2 to 3": _WAY,
        "if not best < now: => Lt to LtE": _WAY,
        "break => Break to Continue": "steps after the last change nothing",
    },
    "judge.panel": {
        **{
            "size = 8 * candidates.shape[1] * query.vectors.shape[1]  # bytes that are gathered for a word, and their"
            f" copies => {change}": _BLOCK
            for change in ("Mult to Div", "Mult to Div #2", "8 to 9")
        },
        **{
            f'step = _ROWS if candidates.device.type == "cpu" else max(1, space.memory // size) => {change}': _BLOCK
            for change in ("Eq to NotEq", "'cpu' changed", "1 to 2", "FloorDiv to Mult")
        },
        "_ROWS = 16  # words at a time: what is gathered for them stays in the cache => 16 to 17": _BLOCK,
        "leads = score > top.mean(dim=1, keepdim=True)  # sums round differently: no score equals the same one found"
        " before => Gt to GtE": "only equally good candidates are at the mean, and their margin is zero both ways",
        **{
            f"\"{name}\": 0.1, => '{name}' changed": "a tenth is what is taken for other names too"
            for name in ("csls", "behind", "behind back")
        },
    },
    "judge.words": {
        "_BLOCK = 4096  # words whose pairs are spelt out at a time => 4096 to 4097": _BLOCK,
        "for side, rows in zip(Side, pairs.T, strict=True): => True to False": _TWO,
        "[self.words[side][row] for row in rows] for side, rows in zip(Side, pairs.T.tolist(), strict=True)"
        " => True to False": _TWO,
        "own, there = words[start : start + _BLOCK], [self.words[asked.other][hit] for hit in hits.tolist()]"
        " => end dropped": "words after the block are in none of its pairs",
    },
    "judge.kinds": {
        "_ROWS = 8192  # at a time => 8192 to 8193": _BLOCK,
        "values, basis = torch.linalg.eigh(sample.T @ sample / max(len(sample), 1)) => 1 to 2": (
            "a single word has no components, and neither has none"
        ),
    },
    "judge.logit": {
        "_NEVER = -1e4  # score of what is no candidate => 10000.0 to 10001.0": "far below any score in both cases",
        "_ROUNDS = 50 => 50 to 51": "a dozen are enough",
        "known = dict(zip(self.names, self.values, strict=True)) => True to False": "reading a judge checks it",
        "while (now := loss(w - step)) > before and step.abs().max() > _TINY: => Gt to GtE": _WAY,
        "while (now := loss(w - step)) > before and step.abs().max() > _TINY: => Gt to GtE #2": _WAY,
        "step = step / 2 => 2 to 3": _WAY,
        "if not now < before: => Lt to LtE": _WAY,
        "break => Break to Continue": "steps after the last change nothing",
        "break => Break to Continue #2": "steps after the last change nothing",
        "w, gained, before = w - step, before - now, now => Sub to Add #2": "steps after the last change nothing",
        "if gained < _SETTLED * n: => Lt to LtE": _WAY,
        "if gained < _SETTLED * n: => Mult to Div": "steps after the last change nothing",
    },
    "judge.space": {
        "ROWS = 1024  # words judged at a time => 1024 to 1025": _BLOCK,
        "return Hits(*(torch.cat(column) for column in zip(*blocks, strict=True))) => True to False": "all have four",
        "key = torch.arange(columns[0].shape[1], device=like.device).repeat(len(like), 1).float() => 0 to 1": (
            "all columns have one shape"
        ),
    },
    "model.marks": {
        "self._offset, self._inode = 0, -1 => USub dropped": "any number that is not the journal's will do",
        "self._offset, self._inode = 0, -1 => 1 to 2": "any number that is not the journal's will do",
    },
    "model.given": {
        "self._places = 0  # of marks, as far as they are taken => 0 to 1": "only their order counts",
        "made._places += 1 => 1 to 2": "only their order counts",
        "own |= zip(others, self._rate(space(), list(others.values()), criterion), strict=True)"
        " => True to False": "each pair is rated",
        "scores = iter(zip(hits.scores[:, 0].tolist(), hits.cosines[:, 0].tolist(), strict=True))"
        " => True to False": "all have both",
        "Candidate(words[a], score, cosine, rank=rank + 1) for a, score, cosine, rank in zip(*columns, strict=True)"
        " => True to False": "all have four",
    },
    "foreign": {
        "worth = theirs | (own + _NEAR * _MOST > math.log(_HOPELESS) / _SLOPE) => Gt to GtE": "they are not equal here",
        "return max(_LOWEST, _MIDDLE - _SHIFT * (_FAR - gap)) if _NEARER <= gap < _FAR else _MIDDLE"
        " => Lt to LtE": "both sides of the edge are the same there",
        "return unicodedata.name(letter, \"?\").split()[0] => '?' changed": "any name that is no script's will do",
        'return counts.most_common(1)[0][0] if counts else "" => 1 to 2': "the first of two is taken",
    },
    "normalize": {
        "_BLOCK = 8192  # rows at a time => 8192 to 8193": _BLOCK,
    },
    "retrieve": {
        "UNKNOWN = -1  # row of a best candidate that has not been searched yet => 1 to 2": "any negative row will do",
        "title: str = \"neighbourhoods\", => 'neighbourhoods' changed": _TITLE,
        "for start, scores in score_blocks(queries, candidates, bias, memory=memory // 2): => 2 to 3": _BLOCK,
        "_PER_PAIR = 4  # the same, for a pair whose score is wanted: that of each word, and bounds for the others"
        " => 4 to 5": "from when on a whole pass costs less is a matter of time alone",
        "if self._some_means(_PER_PAIR * len(rows)): => Mult to Div": "the scoring asks the same once more",
    },
    "spelling.ngrams": {
        "_BLOCK = 8192 => 8192 to 8193": _BLOCK,
        "sides, where = zip(Side, (source, target), strict=True), _computing(device) => True to False": _TWO,
        **{
            f"{_FACTORS} => LShift to RShift{number}": "torch takes larger numbers modulo 2^64 by itself"
            for number in ("", " #2")
        },
        **{
            f"signed = torch.where(hashes < 0, 1.0, -1.0) * rarity[hashes % _BUCKETS] => {change}": "no hash is 0"
            for change in ("Lt to LtE", "0 to 1")
        },
        "for n in range(2, min(max(_LENGTHS), len(codes)) + 1):"
        " => 1 to 2": "there are no n-grams of the next length, or they are not asked for",
    },
    "spelling.letters": {
        **{
            f"_BLOCK, _MANY = 2048, 1 << 15  # pairs at a time; on a GPU => {change}": _BLOCK
            for change in ("2048 to 2049", "LShift to RShift", "1 to 2", "15 to 16")
        },
        **{
            f"order = (n * (_LONGEST + 1) + m).argsort(stable=True) => {change}": _TOGETHER
            for change in ("Add to Sub", "Mult to Div", "Add to Sub #2", "1 to 2", "True to False")
        },
        **{
            f'for block in order.split(_BLOCK if device.type == "cpu" else _MANY): => {change}': _BLOCK
            for change in ("Eq to NotEq", "'cpu' changed")
        },
        **{
            f'device = rows.device if rows.device.type == "cuda" else torch.device("cpu")'
            f"  # not every device has float64 => {change}": "rows are on the CPU here"
            for change in ("Eq to NotEq", "'cuda' changed")
        },
        **{
            f"number = np.zeros(known.max(initial=0) + 1, dtype=np.int64) => {change}": "a longer table"
            for change in ("0 to 1", "1 to 2")
        },
        "letters = np.full((len(forms), int(lengths.max(initial=1))), -1, dtype=np.int64)"
        " => 1 to 2": "a wider table has no more letters",
        "pairs = dict.fromkeys(zip(written[Side.SOURCE], written[Side.TARGET], strict=True))"
        " => True to False": "as many words of both sides were asked for",
        "for side, words in zip(Side, (left, right), strict=True): => True to False": _TWO,
        "alone = [self.alone[side] + least * one for side, one in zip(Side, usual, strict=True)]"
        " => True to False": _TWO,
        "if gain - before < _SETTLED: => Lt to LtE": "they are not equal here",
    },
    "search.blocks": {
        "T = TypeVar(\"T\") => 'T' changed": _TYPE_NAME,
        "best = groups.amax(dim=2).topk(k, dim=1, sorted=False).indices  # (b, k)"
        " => False to True": "they are put in order afterwards",
        "if count * size < n: => Lt to LtE": "nothing is added where nothing is left over",
        "if count * size < n: => Mult to Div": "nothing is added where nothing is left over",
    },
    "search.columns": {
        "self._values = floor.new_full((n, 2 * k), -torch.inf) => 2 to 3": "room that is not used",
        "self._rows = torch.zeros(n, 2 * k, dtype=torch.int32, device=floor.device) => 2 to 3": "room that is not used",
        "maxima.append(block[whole:].amax(dim=0, keepdim=True)) => slice dropped": _OPENED,
        "live = (torch.cat(maxima) > self.floor).T.nonzero()  # (p, 2) of column and group, sorted by column"
        " => Gt to GtE": _OPENED,
        "good = (values > self.floor[columns]) & (rows < len(block)) => Gt to GtE": _EQUAL,
        "wanted = values > self.floor[columns] => Gt to GtE": _EQUAL,
    },
    "search.near": {
        "_FEW = 2048  # rows up to which two plain searches cost less than one pass for both sides"
        " => 2048 to 2049": _BOTH_WAYS,
        "if len(x) <= max(_FEW, 4 * k): => LtE to Lt": _BOTH_WAYS,
        "if len(x) <= max(_FEW, 4 * k): => 4 to 5": _BOTH_WAYS,
        "_SAMPLE = 512  # rows that tell how high a column's best values are at the least, or a hundredth of them"
        " => 512 to 513": _FLOOR,
        "sample = x[:: len(x) // max(_SAMPLE, len(x) // 100, k)] => 100 to 101": _FLOOR,
        "columns = ColumnTop(floor - 2 * error, k, memory // 8) => Mult to Div": _FLOOR,
        "columns = ColumnTop(floor - 2 * error, k, memory // 8) => 2 to 3": _FLOOR,
        "_EXTRA = 8  # further candidates of a search, one of which shows that no other can win"
        " => 8 to 9": "a longer list",
        "more = k + 3 * _EXTRA => 3 to 4": "a longer list",
        "values, rows = top_k(x, y, k + 3 * _EXTRA, memory=memory) => 3 to 4": "a longer list",
        "open_ = (scores[:, -1] < near.beyond).nonzero()[:, 0] => Lt to LtE": "at the edge both ways find the nearest",
        **{
            f"_CACHE = 2 << 20  # bytes that stay in a core's cache => {change}": _BLOCK
            for change in ("LShift to RShift", "2 to 3", "20 to 21")
        },
        "_ROWS = 8192  # rows handled at a time where nothing else matters => 8192 to 8193": _BLOCK,
        "open_ = (nearest[:, -1] < self.beyond).nonzero()[:, 0] => Lt to LtE": "an equal one leaves the mean as it is",
        "near = _refine(queries, candidates, values, rows, 0.0, memory, None)"
        " => 0.0 to 1.0": "what is beyond the lists is not asked here",
        f"{_OPEN} => Lt to LtE": "a search among all finds the same",
        f"{_OPEN} => LtE to Lt": "errors stay below the bound",
        "for rows, cosines in zip(near.rows.split(_ROWS), near.cosines.split(_ROWS), strict=True):"
        " => True to False": "both have one list per word",
        "rows, scores = zip(*chosen, strict=True) => True to False": "all are pairs",
    },
    "search.some": {
        "_BATCH = 64  # words whose means are computed at a time, at the least => 64 to 65": _BLOCK,
        "self.low = words.new_full((len(words),), -1.0)  # the mean where it is known, at most the mean elsewhere"
        " => 1.0 to 2.0": "a lower bound, too",
        "batch = min(2 * batch, len(cosines)) => 2 to 3": _BLOCK,
        "batch *= 2 => 2 to 3": _BLOCK,
        "self.of(gold) => call dropped": "they are among the words looked at next",
    },
    "io.atomic": {
        "def append_line(path: Path, line: bytes, patience: float = 10.0) -> None:"
        " => 10.0 to 11.0": "how long to wait is a matter of taste",
        "if time.monotonic() > deadline: => Gt to GtE": "the clock never shows just this moment",
        "return os.read(handle, 1) => 1 to 2": "there is only one byte left to read",
    },
    "io.cache": {
        "READER_VERSION = 1 => 1 to 2": "any number will do, as long as it changes with the reader",
        "SETTLED_NS = 2_000_000_000 => 2000000000 to 2000000001": "a nanosecond more",
        "_HEAD = 1 << 16 => 1 to 2": _BLOCK,
        "_HEAD = 1 << 16 => 16 to 17": _BLOCK,
        "_CHUNK = 1 << 22 => 1 to 2": _BLOCK,
        "_CHUNK = 1 << 22 => 22 to 23": _BLOCK,
        'with source.path.open("rb", buffering=0) as file: => 0 to 1': "a buffer changes the speed only",
        'with suppress(OSError), source.path.open("rb", buffering=0) as file:'
        " => 0 to 1": "a buffer changes the speed only",
        **{f"{_ENTRY} => {field!r} changed": _NAME_IN_HASH for field in ("options", "sha256", "whole", "reader")},
        **{f"{_INDEX} => {field!r} changed": _NAME_IN_HASH for field in ("options", "head", "reader")},
        "settled = source.opened_ns - max(source.stat.st_ctime_ns, source.stat.st_mtime_ns) >= SETTLED_NS"
        " => GtE to Gt": "the clock never shows just this moment",
        'return hashlib.sha256(json.dumps(fields, sort_keys=True).encode("ascii")).hexdigest()[:40]'
        " => True to False": "the fields always come in one order",
    },
    "io.collect": {
        "self._array: Matrix = np.empty((0, 0), np.float32) => 0 to 1": "it is replaced by the first block",
        "self._array: Matrix = np.empty((0, 0), np.float32) => 0 to 1 #2": "it is replaced by the first block",
        "if self._used > len(self._array): => Gt to GtE": _GROWTH,
        "self._array.resize((max(self._used, len(self._array) * 9 // 8), vectors.shape[1]), refcheck=False)"
        " => Mult to Div": _GROWTH,
        "self._array.resize((max(self._used, len(self._array) * 9 // 8), vectors.shape[1]), refcheck=False)"
        " => 9 to 10": _GROWTH,
        "self._array.resize((max(self._used, len(self._array) * 9 // 8), vectors.shape[1]), refcheck=False)"
        " => 8 to 9": _GROWTH,
        "self._array.resize((max(self._used, len(self._array) * 9 // 8), vectors.shape[1]), refcheck=False)"
        " => False to True": "nothing else refers to the array while it grows",
        "break => Break to Continue": "no word after the last one is kept anyway",
    },
    "io.formats.store": {
        "class StoreWriter(AbstractContextManager[\"StoreWriter\"]): => 'StoreWriter' changed": _TYPE_NAME,
    },
    "io.formats.parse": {
        'raise AssertionError("matched numbers did not parse")'
        " => raise dropped": "it cannot happen, and is there in case it does",
        'raise AssertionError("matched numbers did not parse")'
        " => 'matched numbers did not parse' changed": "it cannot happen, and is there in case it does",
        'if b"" in fields[1:]: => slice dropped': "fields without an empty one are split into the same again",
    },
    "io.formats.text": {
        "_SMALLEST_BLOCK = 1 << 18 => 1 to 2": _BLOCK,
        "_SMALLEST_BLOCK = 1 << 18 => 18 to 19": _BLOCK,
        "usual = counts.most_common(1)[0][0] if counts else 0 => 1 to 2": "the first of two is taken",
        "usual = counts.most_common(1)[0][0] if counts else 0 => 0 to 1 #3": "without counts the header tells",
        "stopped = False => False to True": "there is at least one block",
        'hint = "; it may be cut short" if self.rows > self.lines else "" => Gt to GtE': "they are not equal here",
        "return min(BLOCK, max(_SMALLEST_BLOCK, (options.limit - done + 1) * self.line_bytes * 9 // 8))"
        " => Add to Sub": _BLOCK,
        "return min(BLOCK, max(_SMALLEST_BLOCK, (options.limit - done + 1) * self.line_bytes * 9 // 8))"
        " => 8 to 9": _BLOCK,
    },
    "io.formats.word2vec": {
        "_SMALLEST = 1 << 16 => 1 to 2": _BLOCK,
        "_SMALLEST = 1 << 16 => 16 to 17": _BLOCK,
        "piece = BLOCK if limit is None else min(BLOCK, max(_SMALLEST, limit * (4 * self.dim + 10)))"
        " => Add to Sub": _BLOCK,
        "piece = BLOCK if limit is None else min(BLOCK, max(_SMALLEST, limit * (4 * self.dim + 10)))"
        " => 10 to 11": _BLOCK,
        "if ended and seen < wanted: => Lt to LtE": "a file has not ended while its last record is taken",
        "data, rows, width = header.body, header.rows or 0, 4 * (header.dim or 0)"
        " => 0 to 1": "without a header nothing is asked here",
        "data, rows, width = header.body, header.rows or 0, 4 * (header.dim or 0)"
        " => 0 to 1 #2": "without a header nothing is asked here",
        "while seen < rows and place < len(data):"
        " => Lt to LtE #2": "at the end of the data both ways give the same answer",
        'place = end + (data[end : end + 1] == b"\\n")'
        " => end dropped": "a line feed may count as part of the next word",
        'place = end + (data[end : end + 1] == b"\\n") => 1 to 2': "a line feed may count as part of the next word",
    },
    "io.formats.fasttext": {
        "_BLOCK = 1024 => 1024 to 1025": _BLOCK,
        "stop = 0 => 0 to 1": "a model has at least one word",
        "self.source.advance((self.source.size or 0) * (stop - start) / wanted)"
        " => 0 to 1": "only types ask for it: the file has a size",
        "return self.vectors(row, row + 1)[0] => 1 to 2": "the first of two is taken",
        "if not sane or size != nwords + nlabels or nlabels < 0 or not 0 < nwords <= len(data) // 10:"
        " => LtE to Lt": "what stands before the words makes every file longer",
        "if not sane or size != nwords + nlabels or nlabels < 0 or not 0 < nwords <= len(data) // 10:"
        " => 10 to 11": "what stands before the words makes every file longer",
        "if end < 0 or end + 10 > len(data): => Lt to LtE": "no name ends before the header",
        "if end < 0 or end + 10 > len(data): => 0 to 1": "no name ends before the header",
        "place = np.flatnonzero(is_start[:-1])  # the next byte to mix in, for each n-gram that is growing"
        " => 1 to 2": "no n-gram begins at the last character: alone it does not count",
    },
    "io.formats.header": {
        'return head.removeprefix(_BOM).lstrip()[:15].lower().startswith((b"<!doctype", b"<html"))'
        " => slice dropped": "what follows need not be lowered",
        'return head.removeprefix(_BOM).lstrip()[:15].lower().startswith((b"<!doctype", b"<html"))'
        " => 15 to 16": "what follows need not be lowered",
    },
    "io.formats.decimals": {
        'warnings.simplefilter("error") => call dropped': "newer versions of NumPy raise an error, older ones warn",
        "_LOW_BITS = np.uint64((1 << 29) - 1)  # what float64 holds beyond float32's mantissa => 1 to 2 #2": _LOOKED_AT,
        "suspect = ((wide.view(np.uint64) & _LOW_BITS) == _HALF) | ((np.abs(wide) < _SMALLEST_NORMAL) & (wide != 0))"
        " => Lt to LtE": _LOOKED_AT,
        "suspect = ((wide.view(np.uint64) & _LOW_BITS) == _HALF) | ((np.abs(wide) < _SMALLEST_NORMAL) & (wide != 0))"
        " => 0 to 1": _LOOKED_AT,
        "up = exact > Decimal(float(near)) => Gt to GtE": "from the number itself both ways lead back to it",
        "return other if (exact > middle) == up else near => Gt to GtE": "they are not equal here",
    },
}
