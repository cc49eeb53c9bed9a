// k6: one socket, each round trip measured in the whole milliseconds that its clock has.
import { WebSocket } from 'k6/experimental/websockets';
import { Trend } from 'k6/metrics';

const times = new Trend('times', true);
const text = 'x'.repeat(Number(__ENV.BYTES));

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '10m' } },
  summaryTrendStats: ['count', 'med', 'p(99)'],
};

export default function () {
  const socket = new WebSocket(`ws://127.0.0.1:${__ENV.PORT}/echo`);
  let left = Number(__ENV.ROUNDS);
  let sent;
  const send = () => {
    sent = Date.now();
    socket.send(text);
  };
  socket.onopen = send;
  socket.onmessage = () => {
    times.add(Date.now() - sent);
    left -= 1;
    if (left > 0) send();
    else socket.close();
  };
}

export function handleSummary(data) {
  const { count, med, 'p(99)': p99 } = data.metrics.times.values;
  const seconds = data.state.testRunDurationMs / 1000;
  return { stdout: JSON.stringify({ count, seconds, p50_us: med * 1000, p99_us: p99 * 1000 }) };
}
