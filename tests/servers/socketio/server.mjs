// A chat on socket.io 4; prints its port. Namespace /chat asks for the token "letmein".
//
// It pings every 300 ms and drops clients that do not answer within another 300 ms.
import { createServer } from "node:http";
import { Server } from "socket.io";

const web = createServer();
const io = new Server(web, { pingInterval: 300, pingTimeout: 300, transports: ["websocket"] });

function serve(socket) {
  socket.on("say", (text, acknowledge) => acknowledge({ text }));
  socket.on("ask", (text) => socket.emit("told", text));
  socket.on("join", (room, acknowledge) => {
    socket.join(room);
    acknowledge(room);
  });
  socket.on("leave", () => socket.disconnect(true));
}

io.on("connection", serve);
const chat = io.of("/chat");
chat.use((socket, next) => {
  const allowed = socket.handshake.auth.token === "letmein";
  next(allowed ? undefined : new Error("the token is wrong"));
});
chat.on("connection", serve);
web.listen(0, "127.0.0.1", () => console.log(web.address().port));
