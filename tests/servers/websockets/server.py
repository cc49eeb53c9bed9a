"""An echo server on Python's `websockets`; prints its port, closes with 1001 when asked to "leave".

It pings every 200 ms and drops clients that do not answer within a second.
"""

import asyncio

from websockets.asyncio.server import serve


async def echo(connection):
    async for message in connection:
        if message == "leave":
            await connection.close(1001, "bye")
        else:
            await connection.send(message)


async def main():
    async with serve(echo, "127.0.0.1", 0, ping_interval=0.2, ping_timeout=1) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


asyncio.run(main())
