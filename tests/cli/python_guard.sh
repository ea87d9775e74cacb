#!/bin/sh
# The seat belt: what a model file may not do while it is drawn, whichever of Python's functions it takes for it; and the
# limits of time and memory, which the file can not lift.
. "${0%/*}/lib.sh"
: >there
mkdir folder

# refused TEXT CODE [OPTION...]: a file that runs the code in its constructor
refused() {
    text=$1
    printf '%s\n' "$2" >code
    {
        echo 'import torch'
        echo 'class Net(torch.nn.Module):'
        echo '    def __init__(self):'
        echo '        super().__init__()'
        sed 's/^/        /' code
        echo '    def forward(self, x):'
        echo '        return x'
    } >file.py
    name=$(head -1 code)
    shift 2
    run table file.py -i 1 --meta "$@"
    judge 1 "refused: $name"
    if grep -qF "$text" err && grep -q '^fxscope: file.py:[0-9]*: ' err; then
        ok "it says so: $text"
    else
        not_ok "it says so: $text" "$(head -4 err)"
    fi
    if [ -e made ] || [ ! -e there ] || [ ! -d folder ] || [ -s there ] || [ -s out ]; then
        not_ok "nothing was done: $name" "$(ls; head -3 out)"
        rm -rf made
    else
        ok "nothing was done: $name"
    fi
}

# table TEXT: each line of the standard input is code
table() {
    while IFS= read -r line; do
        case $line in
        '' | '#'*) ;;
        *) refused "$1" "$(printf '%s' "$line" | sed 's/; /\n/g')" ;;
        esac
    done
}

table "may not write or remove files" <<'END'
open("made", "w")
open(b"made", "a")
open("there", "r+")
open("/dev/stdout", "w")
import io; io.open("made", "x")
import io; io.FileIO("made", "w")
import _io; _io.open("made", "w")
import os; os.open("made", os.O_CREAT | os.O_RDONLY)
import os; os.open("there", os.O_RDONLY | os.O_TRUNC)
import os; os.open(".", os.O_TMPFILE | os.O_RDWR)
import os; os.mkfifo("made")
import posix; posix.mkfifo("made")
import os; os.mknod("made")
import os, importlib; importlib.reload(os); os.mkfifo("made")
import importlib.util; spec = importlib.util.find_spec("posix"); importlib.util.module_from_spec(spec).mkfifo("made")
import os; os.link("there", "made")
import os; os.symlink("there", "made")
import os; os.rename("there", "made")
import os; os.replace("there", "made")
import os; os.remove("there")
import os; os.unlink("there")
import os; os.mkdir("made")
import os; os.makedirs("made/deep")
import os; os.rmdir("folder")
import os; os.truncate("there", 3)
import os; os.chmod("there", 0)
import os; os.utime("there")
import os; os.setxattr("there", "user.a", b"1")
import os; os.chown("there", 0, 0)
import pathlib; pathlib.Path("made").write_text("x")
import pathlib; pathlib.Path("made").touch()
import pathlib; pathlib.Path("there").unlink()
import pathlib; pathlib.Path("made").symlink_to("there")
import shutil; shutil.copy("there", "made")
import shutil; shutil.move("there", "made")
import shutil; shutil.rmtree("folder")
import shutil; shutil.make_archive("made", "zip", ".")
import tempfile; tempfile.NamedTemporaryFile(dir=".")
import tempfile; tempfile.mkdtemp(dir=".")
import sqlite3; sqlite3.connect("made")
import dbm.dumb; dbm.dumb.open("made", "c")
import gzip; gzip.open("made", "wb")
import lzma; lzma.open("made", "wb")
import zipfile; zipfile.ZipFile("made", "w")
import tarfile; tarfile.open("made", "w")
import pickle; pickle.dump(1, open("made", "wb"))
import logging; logging.FileHandler("made")
import logging; logging.basicConfig(filename="made"); logging.warning("x")
import py_compile; py_compile.compile("file.py", "made")
import cProfile; cProfile.run("1", "made")
import tracemalloc; tracemalloc.start(); tracemalloc.take_snapshot().dump("made")
import mmap; mmap.mmap(open("there", "r+b").fileno(), 1)
import fcntl; fcntl.flock(0, fcntl.LOCK_EX)
import ssl; ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).keylog_filename = "made"
import fileinput; list(fileinput.input("there", inplace=True))
import xml.etree.ElementTree as E; E.ElementTree(E.Element("a")).write("made")
torch.save(torch.ones(2), "made")
import graphviz; graphviz.Digraph().render("made")
from torch.fx import symbolic_trace; symbolic_trace(torch.nn.ReLU()).to_folder("made")
END
table "write or remove files" <<'END'
import readline; readline.write_history_file("made")
import readline; readline.append_history_file(1, "made")
import _posixshmem; _posixshmem.shm_open("/made", 66)
import multiprocessing.shared_memory
import _dbm; _dbm.open("made", "c")
END
# Python itself loses a name here when a hook refuses: ctypes.CDLL, socket.getaddrinfo.
asan=$ASAN_OPTIONS
ASAN_OPTIONS=$asan:detect_leaks=0
table "may not start programs" <<'END'
import os; os.system("touch made")
import os; os.popen("touch made")
import subprocess; subprocess.run(["touch", "made"])
import subprocess; subprocess.getoutput("touch made")
import subprocess; subprocess._fork_exec(*[None] * 23)
import _posixsubprocess; _posixsubprocess.fork_exec(*[None] * 23)
import os; os.fork()
import os; os.forkpty()
import os; os.execv("/bin/true", ["true"])
import os; os.execlp("true", "true")
import os; os.posix_spawn("/bin/true", ["true"], {})
import os; os.posix_spawnp("true", ["true"], {})
import os; os.spawnlp(os.P_WAIT, "true", "true")
import pty; pty.spawn("true")
import multiprocessing as m; m.get_context("fork").Process(target=print).start()
import ctypes; ctypes.CDLL(None).system(b"touch made")
import ctypes; ctypes.CDLL("libc.so.6")
import ctypes; ctypes.pythonapi.PyRun_SimpleString(b"1")
import ctypes; ctypes.CDLL(None)["system"]
import os; os.kill(os.getpid(), 9)
import os; os.killpg(0, 9)
import signal, threading; signal.pthread_kill(threading.get_ident(), 15)
import signal; signal.raise_signal(9)
import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 9)
END
table "start programs, send signals or load libraries" <<'END'
import _tkinter; _tkinter.create().eval("exec touch made")
import _testcapi
END
table "may not use the network" <<'END'
import socket; socket.socket()
import socket; socket.create_connection(("localhost", 9))
import socket; socket.getaddrinfo("localhost", 9)
import socket; socket.gethostbyname("localhost")
import _socket; _socket.socket()
from urllib import parse, request; request.urlopen(parse.urlunsplit(("http", "localhost:9", "/", "", "")))
import http.client; http.client.HTTPConnection("localhost", 9).connect()
import smtplib; smtplib.SMTP("localhost", 9)
import ftplib; ftplib.FTP("localhost")
import syslog; syslog.syslog("made")
from urllib import parse; import xmlrpc.client; xmlrpc.client.ServerProxy(parse.urlunsplit(("http", "localhost:9", "/", "", ""))).f()
END
ASAN_OPTIONS=$asan
table "may not end the process" <<'END'
import os; os._exit(0)
import os; os.abort()
import posix; posix._exit(0)
import gc; [o for o in gc.get_objects() if getattr(o, "__name__", "") == "posix"][0]._exit(0)
import faulthandler; faulthandler.dump_traceback_later(0.1, exit=True)
import resource; resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
import os, resource; resource.prlimit(os.getpid(), resource.RLIMIT_DATA, (-1, -1))
END

# ---- limits ----

refused "the time limit was reached" 'while True: pass' --timeout 1
refused "the time limit was reached" 'import signal
signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.alarm(0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
while True: pass' --timeout 1
# What comes just between the inner two lines is caught by the outer one.
refused "and the program did not stop" 'while True:
    try:
        while True:
            try:
                while True: sum(range(9))
            except BaseException: pass
    except BaseException: pass' --timeout 1
refused "and the program did not stop" 'import time
time.sleep(100)' --timeout 1
refused "and the program did not stop" 'import threading
threading.Lock().acquire() and threading.Event().wait()' --timeout 1
refused "out of memory" 'torch.ones(1 << 28).cumsum(0)' --max-memory 300
refused "out of memory" 'b"x" * (1 << 30)' --max-memory 300

# ---- what stays possible ----

cat >reads.py <<'END'
import ctypes
import io
import os
import shelve
import signal
import socket
import subprocess
import tempfile
import threading
import torch

seen = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        thread = threading.Thread(target=lambda: seen.append(open(__file__).readline()))
        thread.start()
        thread.join()
        assert seen == ['import ctypes\n'] and os.listdir('.')
        with open(os.devnull, 'w') as file:
            print('nothing', file=file)
        io.BytesIO().write(b'x')
        try:
            import readline
        except ImportError:
            pass
        os.write(1, b'not in the table\n')

    def forward(self, x):
        return x * 2
END
run table reads.py -i 2 --meta
check "reading, threads and /dev/null" test "$status" = 0
if grep -q 'not in the table' err && ! grep -q 'not in the table' out; then
    ok "descriptor 1 is not the output while the file runs"
else
    not_ok "descriptor 1 is not the output while the file runs"
fi
cat >allowed.py <<'END'
import os
import subprocess
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        os.mkfifo('pipe')
        with open('made', 'w') as file:
            file.write(subprocess.run(['echo', 'hello'], capture_output=True, text=True).stdout)
    def forward(self, x):
        return x + 1
END
expect 0 table allowed.py -i 2 --meta --allow exec,write
check "what is allowed was done" grep -q hello made
check "and the other" test -p pipe
# What a file leaves running is held back too.
cat >later.py <<'END'
import atexit, threading, time, torch
def write():
    time.sleep(0.2)
    open('late', 'w')
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        threading.Thread(target=write, daemon=True).start()
        atexit.register(lambda: open('late', 'w'))
    def forward(self, x):
        return x @ x
END
run table later.py -i 300x300
judge 0 "a thread of the file's"
check "writes nothing later" test ! -e late
finish
