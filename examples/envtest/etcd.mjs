// Says that it is healthy and where its data directory is: the embedded hub keeps its objects there itself.
import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';
import { helpText, readFlags } from './launch-flags.mjs';

const flags = readFlags(process.argv.slice(2));
if (flags.has('help')) {
  process.stdout.write(helpText('etcd', ['data-dir', 'listen-client-urls']));
  process.exit(0);
}
const dataDir = flags.get('data-dir')?.at(-1) ?? 'default.etcd';
mkdirSync(dataDir, { recursive: true, mode: 0o700 });

const server = createServer((request, response) => {
  if (request.url === '/health') response.setHeader('content-type', 'application/json').end('{"health":"true"}');
  else if (request.url === '/berth/data-dir') response.end(dataDir);
  else response.writeHead(404).end();
});
const [url] = (flags.get('listen-client-urls')?.at(-1) ?? 'http://127.0.0.1:2379').split(',');
const { hostname, port } = new URL(url);
server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''));
for (const signal of ['SIGTERM', 'SIGINT'])
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
