// An echo server on Node's `ws`; prints its port, closes with 1001 when asked to "leave".
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("listening", () => console.log(server.address().port));
server.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => {
    if (data.toString() === "leave") socket.close(1001, "bye");
    else socket.send(data, { binary: isBinary });
  });
});
