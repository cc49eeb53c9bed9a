// k6: one virtual user opens and closes, one after the other; an iteration ends with its socket.
import { WebSocket } from 'k6/experimental/websockets';
import { Counter } from 'k6/metrics';

const opens = new Counter('opens');

export const options = {
  scenarios: { all: { executor: 'constant-vus', vus: 1, duration: `${__ENV.SECONDS}s`, gracefulStop: '1s' } },
};

export default function () {
  const socket = new WebSocket(`ws://127.0.0.1:${__ENV.PORT}/echo`);
  socket.onopen = () => socket.close();
  socket.onclose = () => opens.add(1);
}

export function handleSummary(data) {
  return { stdout: JSON.stringify({ count: data.metrics.opens.values.count, seconds: data.state.testRunDurationMs / 1000 }) };
}
