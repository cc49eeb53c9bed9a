// A GraphQL server on graphql-ws; prints its port. It asks for the token "letmein" and closes with 4403
// without it. It sends a ping of the protocol every 200 ms, and closes with 4408 if one was not answered
// before the next.
import { buildSchema } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";

const schema = buildSchema(`
  type Query { hello(name: String!): String! }
  type Subscription { countdown(from: Int!): Int! }
`);
const roots = {
  query: { hello: ({ name }) => `hello ${name}` },
  subscription: {
    async *countdown({ from }) {
      for (let left = from; left > 0; left--) yield { countdown: left };
    },
  },
};

function beat(context) {
  const socket = context.extra.socket;
  let answered = true;
  socket.on("message", (data) => {
    if (JSON.parse(data).type === "pong") answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return socket.close(4408, "no pong");
    answered = false;
    socket.send(JSON.stringify({ type: "ping" }));
  }, 200);
  socket.on("close", () => clearInterval(timer));
}

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path: "/graphql" });
function onConnect(context) {
  if (context.connectionParams?.token !== "letmein") return false;
  beat(context);
}
useServer({ schema, roots, onConnect }, server, 0);
server.on("listening", () => console.log(server.address().port));
