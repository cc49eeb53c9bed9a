// JSON-RPC 2.0 on rpc-websockets; prints its port. `later` answers after the time that it is given, so
// that answers overtake each other.
import { Server } from "rpc-websockets";

const server = new Server({ host: "127.0.0.1", port: 0 });
server.register("sum", (numbers) => numbers.reduce((sum, number) => sum + number, 0));
server.register("greet", ({ name }) => ({ greeting: `hello ${name}` }));
server.register("later", ([ms]) => new Promise((done) => setTimeout(() => done(ms), ms)));
server.on("listening", () => console.log(server.wss.address().port));
