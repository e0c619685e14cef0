import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../interop/peers/free-port.ts';
import { peerProgram } from '../../interop/peers/peer-programs.ts';
import { processorTimeMs } from './processor-time.mjs';
import { WORK_CLUSTER } from './fleet.mjs';

const LIFTED = ['--kube-api-qps=10000', '--kube-api-burst=10000'];
const BARE = join(import.meta.dirname, 'bare-client.mjs');
const HERE = join(import.meta.dirname, '../../..');
const POLL_MS = 100;
const QUIET_S = 3;
const QUIET_MS_PER_S = 40;

/**
 * What takes part, by its word on the command line: `bare`, `berth`, `berth=CHECKOUT` (another built checkout), `ocm` (limits lifted) or
 * `ocm-defaults`. Each has the processes `scheduler` and `agent`; they run one at a time. @throws Error for any other word
 */
export function contestant(word) {
  const [name, root = HERE] = word.split('=');
  if (name === 'bare') return { name: word, isOfBerth: false, scheduler: bare('decisions'), agent: bare('works') };
  if (name === 'berth') return { name: word, isOfBerth: true, scheduler: serve(root), agent: berthAgent(root) };
  const limits = { ocm: LIFTED, 'ocm-defaults': [] }[name];
  if (limits === undefined) throw new Error(`nothing is called ${JSON.stringify(word)}: expected bare, berth, berth=CHECKOUT, ocm or ocm-defaults`);
  return { name: word, isOfBerth: false, scheduler: ocmScheduler(limits), agent: ocmAgent(limits), needs: ['ocm/placement', 'ocm/work'] };
}

/** Programs that it needs and that are not built. */
export function missingPrograms({ needs = [] }) {
  return needs.filter((name) => {
    try {
      accessSync(peerProgram(name), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

const node = (...args) => [process.execPath, ...flags(), ...profiled(), ...args];
const flags = () => process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];
const profiled = () => (process.env.BENCH_PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]);
const bare = (duty) => async ({ kubeconfig }) => node(BARE, kubeconfig, duty);

/** Source with one namespace in it: what is measured is not Git. */
const serve = (root) => async ({ kubeconfig }, dir) => {
  const repository = join(dir, 'repository');
  const isNew = mkdirSync(repository, { recursive: true }) !== undefined;
  writeFileSync(join(repository, 'namespace.yaml'), 'apiVersion: v1\nkind: Namespace\nmetadata: {name: from-git}\n');
  const git = (...args) => execFileSync('git', ['-C', repository, '-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...args], { stdio: 'ignore' });
  if (isNew) {
    git('init');
    git('add', '.');
    git('commit', '-m', 'add a namespace');
  }
  const listen = `127.0.0.1:${await freePort()}`;
  const command = node(join(root, 'dist/src/app/cli/main.js'), 'serve', '--kubeconfig', kubeconfig, '--repo', repository, '--data', join(dir, 'data'), '--listen', listen);
  return Object.assign(command, { isReady: async () => (await fetch(`http://${listen}/readyz`)).ok });
};

const berthAgent = (root) => async ({ kubeconfig }) =>
  node(join(root, 'dist/src/app/cli/main.js'), 'agent', '--hub-kubeconfig', kubeconfig, '--kubeconfig', kubeconfig, '--cluster-name', WORK_CLUSTER);

const ocmScheduler = (limits) => async ({ kubeconfig }) => [
  peerProgram('ocm/placement'),
  'controller',
  ...['--kubeconfig', kubeconfig, '--namespace', 'open-cluster-management-hub', '--disable-leader-election', '--listen', `127.0.0.1:${await freePort()}`],
  ...limits,
];

const ocmAgent = (limits) => async ({ kubeconfig }) => [
  peerProgram('ocm/work'),
  'agent',
  ...['--kubeconfig', kubeconfig, '--workload-source-driver', 'kube', '--workload-source-config', kubeconfig, '--spoke-cluster-name', WORK_CLUSTER],
  ...['--agent-id', 'bench', '--namespace', 'open-cluster-management-agent', '--disable-leader-election', '--listen', `127.0.0.1:${await freePort()}`],
  ...limits,
];

/**
 * Starts a process of a contestant, and waits until it has read the hub and has nothing more to do.
 * @param dir its own: the next process of the contestant finds there what this one leaves
 * @returns its id, and `stop`
 */
export async function startProcess(makeCommand, { hub, dir }) {
  const command = await makeCommand(hub, dir);
  const log = join(dir, 'log');
  const env = { ...process.env, POD_NAME: 'bench', POD_NAMESPACE: 'open-cluster-management-hub' };
  const child = spawn(command[0], command.slice(1), { cwd: dir, env, stdio: ['pipe', openSync(log, 'a'), openSync(log, 'a')] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const isReady = command.isReady ?? (async () => true);
  while (!(await isReady().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended with ${child.exitCode}: see ${log}`);
    await sleep(POLL_MS);
  }
  await whenQuiet(child.pid);
  return { pid: child.pid, stop };
}

/** Until the process has used hardly any processor time for a while. Where others load the machine, a busy one gets little of it, too. */
async function whenQuiet(pid) {
  for (let quietS = 0, before = processorTimeMs(pid); quietS < QUIET_S; ) {
    await sleep(1_000);
    const now = processorTimeMs(pid);
    quietS = now - before > QUIET_MS_PER_S ? 0 : quietS + 1;
    before = now;
  }
}
