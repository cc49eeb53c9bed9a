// Node's `ws` in a plain script: node.js WS KIND PORT CONNECTIONS BYTES SECONDS ROUNDS
const [library, kind, port, ...numbers] = process.argv.slice(2);
const [connections, bytes, seconds, rounds] = numbers.map(Number);
const WebSocket = require(library);

const text = 'x'.repeat(bytes);
const times = [];
let [count, start] = [0, 0];

function tell() {
  const took = Number(process.hrtime.bigint() - start) / 1e9;
  times.sort((a, b) => a - b);
  const at = (q) => times[Math.floor((times.length - 1) * q)];
  const figures = times.length ? { p50_us: at(0.5), p99_us: at(0.99) } : {};
  console.log(JSON.stringify({ count, seconds: took, ...figures }));
  process.exit(0);
}

function open(path) {
  return new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
}

const kinds = {
  // All are open before the first sends.
  closed() {
    const sockets = [];
    for (let left = connections; left > 0; left -= 1) {
      const socket = open('/echo');
      socket.on('message', () => { count += 1; socket.send(text); });
      socket.on('open', () => {
        if (sockets.push(socket) < connections) return;
        start = process.hrtime.bigint();
        sockets.forEach((one) => one.send(text));
        setTimeout(tell, seconds * 1000);
      });
    }
  },
  pushed() {
    let opened = 0;
    const next = () => {
      const socket = open('/push?hz=1');
      socket.on('message', () => { count += 1; });
      socket.on('open', () => {
        opened += 1;
        if (opened < connections) return next();
        [count, start] = [0, process.hrtime.bigint()];
        return setTimeout(tell, seconds * 1000);
      });
    };
    next();
  },
  single() {
    const socket = open('/echo');
    let sent;
    const send = () => { sent = process.hrtime.bigint(); socket.send(text); };
    socket.on('open', () => { start = process.hrtime.bigint(); send(); });
    socket.on('message', () => {
      times.push(Number(process.hrtime.bigint() - sent) / 1e3);
      count += 1;
      if (count < rounds) send(); else tell();
    });
  },
  opens() {
    start = process.hrtime.bigint();
    setTimeout(tell, seconds * 1000);
    const next = () => {
      const socket = open('/echo');
      socket.on('open', () => socket.close());
      socket.on('close', () => { count += 1; next(); });
    };
    next();
  },
};
kinds[kind]();
