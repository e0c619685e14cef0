// Argo CD's own programs, where this machine has them.
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePort, until } from './example-run.mjs';

/** Paths of the programs by name, and the names of those that are missing. An `argocd` on the path may be of any version. */
export function findArgoPrograms() {
  const peers = process.env['BERTH_PEERS'] ?? join(homedir(), '.cache/berth-peers/bin');
  const places = {
    argocd: [peers],
    // The repository server calls it by name.
    'git-verify-wrapper.sh': [peers],
    'redis-server': [peers, ...(process.env['PATH'] ?? '').split(delimiter)],
  };
  const found = {};
  for (const [name, folders] of Object.entries(places)) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (path !== undefined) found[name] = path;
  }
  return { found, missing: Object.keys(places).filter((name) => found[name] === undefined) };
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const local = async () => `127.0.0.1:${await freePort()}`;
const portOf = (address) => address.split(':')[1];

/** Makes Applications of the ApplicationSets on the hub. */
export async function startApplicationSetController(run, programs, kubeconfig) {
  run.start(
    'applicationset-controller',
    programs.argocd,
    [
      ...['--kubeconfig', kubeconfig, '--namespace', 'argocd', '--enable-leader-election=false'],
      ...['--metrics-addr', await local(), '--probe-addr', await local(), '--webhook-addr', await local()],
      // Only generators that read Git ask the repository server.
      ...['--argocd-repo-server', '127.0.0.1:1', '--repo-server-plaintext'],
    ],
    { ...argoEnv(run, 'applicationset-controller'), KUBECONFIG: kubeconfig },
  );
}

/** Syncs the Applications of a cluster. @param name of its log files */
export async function startApplicationController(run, programs, name, kubeconfig) {
  const [redis, repo] = [await local(), await local()];
  const program = async (part, args) =>
    run.start(`${name}-${part}`, programs.argocd, args, {
      ...argoEnv(run, part, `${name}-${part}`),
      PATH: `${dirname(programs['git-verify-wrapper.sh'])}${delimiter}${process.env['PATH']}`,
    });
  run.start(`${name}-redis`, programs['redis-server'], [
    ...['--port', portOf(redis), '--bind', '127.0.0.1', '--save', '', '--dir', run.folder(`${name}-redis`)],
  ]);
  const metrics = String(await freePort());
  await program('repo-server', [
    ...['--address', '127.0.0.1', '--port', portOf(repo), '--redis', redis],
    ...['--metrics-address', '127.0.0.1', '--metrics-port', metrics],
    // Since Argo CD 3.6 it refuses to serve without TLS while it has a path of client certificates.
    ...['--disable-tls', '--client-ca-path', ''],
  ]);
  // The controller caches that it cannot be reached.
  await until(
    'starting the repository server',
    () => fetch(`http://127.0.0.1:${metrics}/healthz`),
    ({ ok }) => ok,
  );
  await program('application-controller', [
    ...['--kubeconfig', kubeconfig, '--namespace', 'argocd', '--redis', redis],
    ...['--repo-server', repo, '--repo-server-plaintext', '--metrics-port', String(await freePort())],
  ]);
}

/** One file contains all programs of Argo CD; a variable says which it is. */
function argoEnv(run, part, folder = part) {
  return {
    ARGOCD_BINARY_NAME: `argocd-${part}`,
    ARGOCD_GPG_ENABLED: 'false',
    ARGOCD_TLS_DATA_PATH: run.folder(`${folder}/tls`),
    ARGOCD_SSH_DATA_PATH: run.folder(`${folder}/ssh`),
    TMPDIR: run.folder(`${folder}/tmp`),
    POD_NAME: 'argocd-0',
  };
}
