"""scim2-server on a free port of loopback, for whoever has the token that is its argument: `port N is open` says
which."""
import sys

from scim2_server.testserver import cli

make_server = cli.make_server


def listening(*arguments, **options):
    server = make_server(*arguments, **options)
    print(f"port {server.server_port} is open", flush=True)
    return server


cli.make_server = listening
sys.argv[1:] = ["--port", "0", "--bearer-token", sys.argv[1]]
cli.main()
