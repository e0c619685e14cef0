// A user of one cluster through the hub, in a process of its own that a test kills: large lists, a watch, exec and port-forward, each
// again and again.
//   node access-client.mjs URL CA_FILE TOKEN CLUSTER HANG_MS ITEMS
// Prints each half second how often each kind went well and failed, and at once what must never be: `WRONG ...`.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, caFile, token, cluster, hangMs, items] = process.argv.slice(2);
const ca = readFileSync(caFile);
const authorization = `Bearer ${token}`;
const own = `of-${cluster}`;
const POD = '/api/v1/namespaces/default/pods/web';
const MAPS = '/api/v1/namespaces/default/configmaps';
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' };
const BLOCK = 256 * 1024;

const counts = {};
const count = (kind, isGood) => {
  counts[kind] ??= [0, 0];
  counts[kind][isGood ? 0 : 1] += 1;
};
const wrong = (text) => console.log(`WRONG ${cluster}: ${text}`);
setInterval(() => console.log(JSON.stringify(counts)), 500);

/** All clusters stamp what they say with their name. */
const checkStamps = (kind, text) => {
  for (const [stamp] of text.matchAll(/of-cluster\d+/g)) if (stamp !== own) wrong(`${kind} was answered ${stamp}`);
};

/** One attempt: `use` says that something came, and how it ended. */
function attempt(kind, { path, headers = {}, use }) {
  return new Promise((resolve) => {
    const request = https.request(`${url}/${cluster}${path}`, { ca, agent: false, headers: { authorization, ...headers } });
    const timer = setTimeout(() => {
      wrong(`${kind} hangs: nothing came for ${hangMs} ms`);
      request.destroy();
    }, Number(hangMs));
    const end = (isGood) => {
      clearTimeout(timer);
      count(kind, isGood);
      resolve();
    };
    request.once('error', () => end(false));
    request.once('response', (response) => {
      if (![200, 502, 503].includes(response.statusCode)) wrong(`${kind} got status ${response.statusCode}`);
      if (response.statusCode === 200) return;
      response.resume();
      response.once('close', () => end(false));
    });
    use(request, { came: () => timer.refresh(), end });
    request.end();
  });
}

const KINDS = {
  list: {
    path: MAPS,
    use: (request, { end }) =>
      request.once('response', async (response) => {
        if (response.statusCode !== 200) return;
        let text = '';
        response.setEncoding('utf8').on('data', (part) => (text += part));
        response.once('close', () => {
          checkStamps('list', text);
          // What was cut off must not look whole.
          if (response.complete && JSON.parse(text).items.length < Number(items)) wrong('list is not whole');
          end(response.complete);
        });
      }),
  },
  watch: {
    path: `${MAPS}?watch=true&fieldSelector=metadata.name%3Dticks`,
    use: (request, { came, end }) =>
      request.once('response', (response) => {
        if (response.statusCode !== 200) return;
        response.setEncoding('utf8').on('data', (part) => {
          came();
          checkStamps('watch', part);
          count('event', true);
        });
        response.once('close', () => end(response.complete));
      }),
  },
  exec: {
    path: `${POD}/exec?command=sh&stdin=true`,
    headers: UPGRADE,
    use: (request, { came, end }) =>
      request.once('upgrade', (_response, socket) => {
        let [asked, text] = [0, ''];
        const say = () => socket.write(`${(asked += 1)}\n`);
        socket.setEncoding('utf8').on('data', (part) => {
          came();
          text += part;
          if (!text.endsWith('\n')) return;
          if (text !== `${own} ${asked}\n`) wrong(`exec said ${JSON.stringify(text)} to ${asked}`);
          text = '';
          count('line', true);
          setTimeout(say, 20);
        });
        socket.on('error', () => undefined);
        socket.once('close', () => end(false));
        say();
      }),
  },
  'port-forward': {
    path: `${POD}/portforward?ports=80`,
    headers: UPGRADE,
    use: (request, { came, end }) =>
      request.once('upgrade', (_response, socket, head) => {
        let [sent, got] = [randomBytes(BLOCK), head];
        socket.on('data', (part) => {
          came();
          got = Buffer.concat([got, part]);
          if (got.length < BLOCK) return;
          if (!got.equals(sent)) wrong('port-forward changed a block');
          [sent, got] = [randomBytes(BLOCK), Buffer.alloc(0)];
          count('block', true);
          setTimeout(() => socket.write(sent), 100);
        });
        socket.on('error', () => undefined);
        socket.once('close', () => end(false));
        socket.write(sent);
      }),
  },
};

for (const [kind, how] of Object.entries(KINDS))
  void (async () => {
    for (;;) {
      await attempt(kind, how);
      await sleep(50 + Math.random() * 150);
    }
  })();
