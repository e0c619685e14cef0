// Starts `berth hub` with the flags of kube-apiserver that envtest sets. Runs in this process, so that signals reach it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { helpText, readFlags } from './launch-flags.mjs';

/** Handed on as they are. */
const SAME = [
  'client-ca-file',
  'service-account-issuer',
  'service-account-key-file',
  'tls-cert-file',
  'tls-private-key-file',
  'token-auth-file',
];
const TRANSLATED = ['bind-address', 'cert-dir', 'etcd-servers', 'secure-port'];

const flags = readFlags(process.argv.slice(2));
if (flags.has('help')) {
  process.stdout.write(helpText('kube-apiserver', [...SAME, ...TRANSLATED].sort()));
  process.exit(0);
}
const one = (name) => flags.get(name)?.at(-1);

const words = SAME.flatMap((name) => (flags.get(name) ?? []).map((value) => `--${name}=${value}`));
const certDir = one('cert-dir');
// As kube-apiserver: a pair of that name in the folder is what it serves with.
const pair = ['crt', 'key'].map((end) => join(certDir ?? '', `apiserver.${end}`));
if (one('tls-cert-file') === undefined && certDir !== undefined && pair.every((file) => existsSync(file)))
  words.push(`--tls-cert-file=${pair[0]}`, `--tls-private-key-file=${pair[1]}`);
const host = one('bind-address') ?? '127.0.0.1';
words.push(`--listen=${host.includes(':') ? `[${host}]` : host}:${one('secure-port') ?? '6443'}`);
words.push(`--data=${join(await dataDirectory(), 'berth-hub')}`);
// An API server alone has neither the controllers of kube-controller-manager nor the rules that OCM keeps in webhooks.
words.push('--no-controllers', '--no-ocm-admission', '--audit=off', '--log-level=warn');

const ignored = [...flags.keys()].filter((name) => !SAME.includes(name) && !TRANSLATED.includes(name));
if (ignored.length > 0) process.stderr.write(`not used: ${ignored.map((name) => `--${name}`).join(' ')}\n`);

const main = fileURLToPath(new URL('../../dist/src/app/cli/main.js', import.meta.url));
process.argv = [process.argv[0], main, 'hub', ...words];
await import(main);

/** The objects are kept where etcd would keep them; beside the certificates when no stand-in of etcd answers. */
async function dataDirectory() {
  const [etcd] = (one('etcd-servers') ?? '').split(',');
  if (etcd !== '') {
    const answer = await fetch(new URL('/berth/data-dir', etcd)).catch(() => undefined);
    if (answer?.ok) return answer.text();
  }
  if (certDir !== undefined) return certDir;
  throw new Error('kube-apiserver of berth needs --etcd-servers or --cert-dir, to know where its data is');
}
