"""scree serve: files of its folder and nothing else, on localhost, with the headers that threads need."""
import http.client
import os
import re
import signal
import socket
import subprocess
import unittest

from support.case import PATIENCE, PROGRAM, Case


class Serve(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("page", "sub"))
        os.makedirs(self.path("page-beside"))
        self.write("secret.txt", "secret")
        self.write("page/index.html", "<p>hello</p>")
        self.write("page/a.js", "export {};")
        self.write("page/a.wasm", b"\0asm")
        self.write("page/sub/with space.txt", "spaced")
        self.write("page-beside/secret.txt", "secret")
        os.symlink(self.path("secret.txt"), self.path("page", "way_out.txt"))
        os.symlink(self.folder, self.path("page", "up"))
        os.symlink("a.js", self.path("page", "inside.js"))
        os.mkfifo(self.path("page", "pipe"))

    def serve(self, *words):
        process = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--folder", self.path("page"), *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        line = process.stdout.readline()
        self.port = int(re.search(r"http://localhost:(\d+)/", line)[1])
        return process

    def ask(self, path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def raw(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            got = b""
            while piece := connection.recv(65536):
                got += piece
            return got

    def test_files_and_headers(self):
        self.serve()
        status, headers, body = self.ask("/")
        self.assertEqual((status, body), (200, b"<p>hello</p>"))
        self.assertEqual(headers["Cross-Origin-Opener-Policy"], "same-origin")
        self.assertEqual(headers["Cross-Origin-Embedder-Policy"], "require-corp")
        self.assertTrue(headers["Content-Type"].startswith("text/html"))
        self.assertEqual(self.ask("/a.wasm?x=1")[1]["Content-Type"], "application/wasm")
        self.assertTrue(self.ask("/a.js")[1]["Content-Type"].startswith("text/javascript"))
        self.assertEqual(self.ask("/sub/with%20space.txt")[2], b"spaced")
        self.assertEqual(self.ask("/inside.js")[0], 200)
        status, headers, body = self.ask("/a.js", "HEAD")
        self.assertEqual((status, headers["Content-Length"], body), (200, "10", b""))

    def test_without_threads(self):
        self.serve("--one-thread")
        self.assertIsNone(self.ask("/")[1]["Cross-Origin-Embedder-Policy"])

    def test_nothing_outside(self):
        self.serve()
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/sub/../../secret.txt", "/..%2fsecret.txt", "/way_out.txt",
                     "/up/secret.txt", "/../page-beside/secret.txt", "//etc/passwd", "/sub", "/pipe", "/no", "/%00", "/a.js%00.png",
                     "/" + "a" * 3000, "/%", "/%zz"):
            status, _, body = self.ask(path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn(b"secret\n", body)
            self.assertNotIn(b"root:", body)
        self.assertEqual(self.ask("/", "POST")[0], 405)

    def test_rubbish(self):
        self.serve()
        for data in (b"", b"\r\n\r\n", b"GET\r\n\r\n", b"\0\0\r\n\r\n", b"GET a HTTP/1.1\r\n\r\n", b"x" * 40000,
                     b"GET http://localhost/ HTTP/1.1\r\n\r\n"):
            self.assertIn(b"400 Bad Request", self.raw(data))
        # One that says nothing keeps nobody waiting.
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE):
            self.assertEqual(self.ask("/")[0], 200)

    def test_only_this_machine(self):
        self.serve()
        listening = []
        for name in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(name):
                with open(name) as file:
                    rows = [line.split() for line in file.readlines()[1:]]
                listening += [row[1] for row in rows if row[3] == "0A"]  # TCP_LISTEN
        # As the kernel writes addresses: bytes in the order of the machine, here 127.0.0.1.
        self.assertEqual([place for place in listening if place.endswith(f":{self.port:04X}")], [f"0100007F:{self.port:04X}"])

    def test_ends_when_interrupted(self):
        process = self.serve()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_usage(self):
        self.serve()
        self.bad(2, "cannot be used", "serve", "--port", str(self.port), "--folder", self.path("page"))
        self.bad(2, "there is no folder", "serve", "--folder", self.path("nowhere"))
        self.bad(2, "port", "serve", "--port", "70000")


if __name__ == "__main__":
    unittest.main()
