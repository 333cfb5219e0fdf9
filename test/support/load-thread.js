import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** The requests of `sendFromConnections()`, in a thread of their own: the server's would keep them from coming together. */
const { url, connections, requestsOfEach, key } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: connections });

function post() {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key ?? randomUUID() };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode));
    });
    sent.once('error', reject);
    sent.end('{"item":"kibble"}');
  });
}

async function postInTurn() {
  const statuses = [];
  for (let sent = 0; sent < requestsOfEach; sent += 1) statuses.push(await post());
  return statuses;
}

const statuses = await Promise.all(Array.from({ length: connections }, postInTurn));
agent.destroy();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort.postMessage(statuses.flat());
