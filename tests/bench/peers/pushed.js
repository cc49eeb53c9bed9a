// k6: each virtual user has a socket and receives a message a second.
import { WebSocket } from 'k6/experimental/websockets';
import { Counter } from 'k6/metrics';

const messages = new Counter('messages');
const milliseconds = Number(__ENV.SECONDS) * 1000;

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: Number(__ENV.CONNECTIONS), iterations: 1, maxDuration: '10m' } },
};

export default function () {
  const socket = new WebSocket(`ws://127.0.0.1:${__ENV.PORT}/push?hz=1`);
  socket.onopen = () => setTimeout(() => socket.close(), milliseconds);
  socket.onmessage = () => messages.add(1);
}

export function handleSummary(data) {
  return { stdout: JSON.stringify({ count: data.metrics.messages.values.count, seconds: milliseconds / 1000 }) };
}
