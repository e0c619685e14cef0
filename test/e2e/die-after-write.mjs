// Loaded into a process under test: it is killed with SIGKILL when a write that it sent was done and before it reads the answer
// (DIE_AS=client), or when it has done a write and before it sends the answer (DIE_AS=server). What it died of is a line in the file
// DIE_LOG, with all other writes that had no answer then; after DIE_MOST deaths of the same write it lives on, so that a chain of lives
// comes to an end.
import { appendFileSync, readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';

const { DIE_AS, DIE_LOG, DIE_MOST } = process.env;
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** An agent renews its lease forever. */
const MOST_DEATHS_BY_LEASE = 2;

/** Reviews are questions, and write nothing. */
function nameOfWrite(method, target) {
  const path = target.split('?')[0];
  if (!WRITES.has(method) || /reviews$/.test(path)) return undefined;
  return `${method} ${path.replace(/(certificatesigningrequests)\/[^/]+/, '$1/NAME')}`;
}

const unanswered = new Set();

function die({ write }) {
  const before = readFileSync(DIE_LOG, 'utf8').split('\n').filter((line) => line === write).length;
  if (before >= (/\/leases\//.test(write) ? MOST_DEATHS_BY_LEASE : Number(DIE_MOST))) return;
  appendFileSync(DIE_LOG, [...unanswered].map((one) => `${one.write}\n`).join(''));
  process.kill(process.pid, 'SIGKILL');
}

if (DIE_AS === 'client') {
  const { connect } = http2;
  http2.connect = (...args) => {
    const session = connect(...args);
    const { request } = session;
    session.request = (headers, ...rest) => {
      const stream = request.call(session, headers, ...rest);
      const write = nameOfWrite(headers[':method'], headers[':path']);
      if (write === undefined) return stream;
      const one = { write };
      unanswered.add(one);
      stream.prependOnceListener('response', (answer) => {
        if (answer[':status'] < 300) die(one);
        unanswered.delete(one);
      });
      return stream;
    };
    return session;
  };
} else {
  const { createSecureServer } = http2;
  http2.createSecureServer = (...args) => {
    const server = createSecureServer(...args);
    server.prependListener('request', (request, response) => {
      const write = nameOfWrite(request.method, request.url);
      if (write === undefined) return;
      const one = { write };
      unanswered.add(one);
      const { end } = response;
      response.end = (...rest) => {
        if (response.statusCode < 300) die(one);
        unanswered.delete(one);
        return end.apply(response, rest);
      };
    });
    return server;
  };
}
syncBuiltinESMExports();
