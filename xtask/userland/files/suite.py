"""Many parts of Python's standard library, with results that are the same on each machine."""

import argparse, base64, bisect, collections, contextlib, csv, datetime, decimal, enum, fractions, functools, glob, gzip
import hashlib, heapq, io, itertools, json, math, operator, os, pathlib, pickle, queue, random, re, shutil, signal, string
import struct, subprocess, sys, tempfile, textwrap, threading, time, traceback, unicodedata, zlib


def numbers():
    print(2**200 % 10**9, math.factorial(30), math.sin(1.5), math.isqrt(10**30), fractions.Fraction(3, 7) ** 5)
    print(decimal.Decimal(2).sqrt(), round(2.675, 2), 0.1 + 0.2, float("inf"), divmod(-7, 3), hex(255), 1e300 * 10)
    random.seed(5)
    print([random.randrange(1000) for _ in range(8)], random.gauss(0, 1), random.sample(range(100), 5))


def texts():
    text = open("license").read()
    words = collections.Counter(re.findall(r"[a-z]+", text.lower()))
    print(sorted(words.items(), key=lambda item: (-item[1], item[0]))[:10])
    print(hashlib.sha256(text.encode()).hexdigest(), zlib.crc32(text.encode()), hashlib.md5(text.encode()).hexdigest())
    print(textwrap.fill(text[300:700], 60), unicodedata.name("ä"), "ÄÖ".lower(), "{:>10}|{:<8.3f}|{!r}".format("x", 3.14159, "y'"))
    print(re.sub(r"(\w+) (\w+)", r"\2 \1", "one two three four"), "a,b,,c".split(","), base64.b64encode(b"abc" * 5))


def structures():
    rows = list(csv.DictReader(open("people.csv")))
    print(json.dumps(sorted(rows, key=operator.itemgetter("year")), sort_keys=True)[:200])
    data = json.load(open("data.json"))
    print(data["pi"], data["big"], data["text"].encode(), pickle.loads(pickle.dumps(data)) == data)
    print(list(itertools.permutations("abc"))[:3], functools.reduce(operator.mul, range(1, 10)), bisect.bisect([1, 3, 5], 4))
    heap = [5, 2, 8, 1]
    heapq.heapify(heap)
    print([heapq.heappop(heap) for _ in range(4)], struct.pack("<HId", 1, 2, 3.5), {x: x * x for x in range(5)})
    print(datetime.datetime(2020, 2, 29) + datetime.timedelta(days=366), datetime.date(2000, 1, 1).isocalendar())
    print(gzip.decompress(gzip.compress(b"x" * 1000, mtime=0)) == b"x" * 1000)


def threads():
    items, results, lock = queue.Queue(), [], threading.Lock()

    def work():
        while (item := items.get()) is not None:
            with lock:
                results.append(item * item)
            items.task_done()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for item in range(200):
        items.put(item)
    items.join()
    for _ in workers:
        items.put(None)
    for worker in workers:
        worker.join(timeout=60)
    print(sum(results), len(results), threading.active_count())
    event, barrier = threading.Event(), threading.Barrier(2)
    threading.Timer(0.01, event.set).start()
    print(event.wait(30))
    other = threading.Thread(target=barrier.wait)
    other.start()
    barrier.wait()
    other.join()
    local = threading.local()
    print(hasattr(local, "x"), threading.main_thread().name)


def processes():
    print(subprocess.run(["sort", "-r"], input="a\nc\nb\n", capture_output=True, text=True))
    print(subprocess.run("echo $A; exit 4", shell=True, env={"A": "x"}, stdout=subprocess.PIPE))
    print(subprocess.check_output("seq 5 | tac | tr '\\n' ' '", shell=True), os.waitstatus_to_exitcode(os.system("kill -9 $$")))
    with contextlib.suppress(FileNotFoundError):
        subprocess.run(["no-such-program"])
    try:
        subprocess.run(["sleep", "100"], timeout=0.05)
    except subprocess.TimeoutExpired as error:
        print(type(error).__name__, error.cmd)
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, b"from a child")
        os._exit(7)
    print(os.read(read, 100), os.waitpid(child, 0)[1])
    signal.signal(signal.SIGALRM, lambda number, frame: print("alarm", number))
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    signal.pause()


def files():
    folder = pathlib.Path(tempfile.mkdtemp(dir="."))
    (folder / "one").write_text("1\n" * 100)
    shutil.copytree("tree", folder / "tree")
    os.symlink("one", folder / "link")
    print(sorted(str(path.relative_to(folder)) for path in folder.rglob("*")), os.readlink(folder / "link"))
    os.rename(folder / "one", folder / "two")
    try:
        open(folder / "link")
    except OSError as error:
        print(error.errno, error.strerror)
    with open(folder / "two", "r+b") as file:
        file.seek(10)
        file.write(b"XX")
        file.truncate(20)
        print(os.fstat(file.fileno()).st_size)
    print((folder / "two").read_bytes(), sorted(glob.glob("*.sql")), os.access("missing", os.R_OK))
    shutil.rmtree(folder)
    with tempfile.TemporaryFile() as file:
        file.write(b"without a path")
        file.seek(8)
        print(file.read(), os.fstat(file.fileno()).st_nlink)


def errors():
    class Color(enum.Enum):
        RED = 1

    print(Color(1), repr(Color.RED))
    try:
        {}["missing"]
    except KeyError:
        print(traceback.format_exc(limit=1).splitlines()[-1])
    sys.setrecursionlimit(500)
    try:
        (lambda f: f(f))(lambda f: f(f))
    except RecursionError as error:
        print(error)
    parser = argparse.ArgumentParser(prog="x")
    parser.add_argument("--n", type=int)
    parser.parse_args(["--n", "many"])


globals()[sys.argv[1]]()
