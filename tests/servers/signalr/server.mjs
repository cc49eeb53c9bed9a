// A SignalR hub in the terms of Microsoft's own package: its codec writes every message, and before the
// port is printed its client has called the hub. ASP.NET itself would need a .NET runtime.
//
// Methods: Echo(text), Countdown(from), a stream, and Fail(). It pings every 200 ms and closes connections that
// sent nothing for 600 ms.
import signalR from "@microsoft/signalr";
import { createRequire } from "node:module";
import { WebSocketServer } from "ws";

const { HandshakeProtocol } = createRequire(import.meta.url)("@microsoft/signalr/dist/cjs/HandshakeProtocol.js");
const { HubConnectionBuilder, HttpTransportType, JsonHubProtocol, LogLevel, MessageType, NullLogger } = signalR;
const SEPARATOR = "\x1e";
const protocol = new JsonHubProtocol();
// The codec reads what servers send, which stream invocations are not among.
const records = (text) => text.split(SEPARATOR).slice(0, -1).map((record) => JSON.parse(record));

const methods = {
  Echo: (text) => text,
  Fail: () => {
    throw new Error("it failed on purpose");
  },
};

function serve(socket) {
  const send = (message) => socket.send(protocol.writeMessage(message));
  let greeted = false;
  let heard = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - heard > 600) socket.close(1001, "nothing heard");
    else if (greeted) send({ type: MessageType.Ping });
  }, 200);
  socket.on("close", () => clearInterval(timer));
  socket.on("message", (data) => {
    heard = Date.now();
    const text = data.toString();
    if (!text.endsWith(SEPARATOR)) return socket.close(1002, "no record separator");
    for (const message of records(text)) {
      if (!greeted) {
        const known = message.protocol === "json" && message.version === 1;
        const answer = known ? {} : { error: `the protocol '${message.protocol}' is not supported` };
        socket.send(new HandshakeProtocol().writeHandshakeRequest(answer));
        greeted = known;
      } else if (message.type === MessageType.Invocation) invoke(message, send);
      else if (message.type === MessageType.StreamInvocation) stream(message, send);
      else if (message.type === MessageType.Close) socket.close(1000);
    }
  });
}

function invoke({ invocationId, target, arguments: values }, send) {
  try {
    if (!methods[target]) throw new Error(`Method '${target}' does not exist`);
    send({ type: MessageType.Completion, invocationId, result: methods[target](...values) });
  } catch (error) {
    send({ type: MessageType.Completion, invocationId, error: error.message });
  }
}

function stream({ invocationId, arguments: [from] }, send) {
  for (let item = from; item > 0; item--) send({ type: MessageType.StreamItem, invocationId, item });
  send({ type: MessageType.Completion, invocationId });
}

// Microsoft's client, which is the measure of what a hub is.
async function proveWithTheirClient(port) {
  const connection = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${port}/hub`, { skipNegotiation: true, transport: HttpTransportType.WebSockets })
    .configureLogging(NullLogger.instance ?? LogLevel.None)
    .build();
  await connection.start();
  const echoed = await connection.invoke("Echo", "hello");
  const failed = await connection.invoke("Fail").then(() => "", (error) => error.message);
  const items = await new Promise((complete, error) => {
    const seen = [];
    connection.stream("Countdown", 3).subscribe({ next: (item) => seen.push(item), complete: () => complete(seen), error });
  });
  await connection.stop();
  if (echoed !== "hello" || !failed.includes("on purpose") || items.join() !== "3,2,1") {
    throw new Error(`the hub answers Microsoft's client wrongly: ${echoed}, ${failed}, ${items}`);
  }
}

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path: "/hub" });
server.on("connection", serve);
server.on("listening", async () => {
  const { port } = server.address();
  await proveWithTheirClient(port);
  console.log(port);
});
