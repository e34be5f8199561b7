"""An OAuth 2.0 server with nothing but a token endpoint, whose tokens are valid for some seconds."""

import http.server
import json
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    issued = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Handler.issued += 1
        answer = {
            "access_token": f"token-{Handler.issued}",
            "token_type": "Bearer",
            "expires_in": int(sys.argv[1]),
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(f"port {server.server_port}", flush=True)
server.serve_forever()
