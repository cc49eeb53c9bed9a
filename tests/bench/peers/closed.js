// k6: each virtual user has a socket, sends, awaits the echo, and sends again.
import { WebSocket } from 'k6/experimental/websockets';
import { Counter } from 'k6/metrics';

const roundTrips = new Counter('round_trips');
const text = 'x'.repeat(Number(__ENV.BYTES));
const milliseconds = Number(__ENV.SECONDS) * 1000;

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: Number(__ENV.CONNECTIONS), iterations: 1, maxDuration: '10m' } },
};

export default function () {
  const socket = new WebSocket(`ws://127.0.0.1:${__ENV.PORT}/echo`);
  socket.onopen = () => {
    setTimeout(() => socket.close(), milliseconds);
    socket.send(text);
  };
  socket.onmessage = () => {
    roundTrips.add(1);
    socket.send(text);
  };
}

export function handleSummary(data) {
  return { stdout: JSON.stringify({ count: data.metrics.round_trips.values.count, seconds: milliseconds / 1000 }) };
}
