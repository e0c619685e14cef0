import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMembers } from '@berth/agent/simulation/start-members';
import { startHub } from '@berth/embedded-hub/start-hub';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { type ContainerProgram, ContainerRunner } from './testing/run-containers.ts';
import { decidePlacement } from './testing/placed-add-ons.ts';
import { runAddOnControllers } from './testing/run-add-on-controllers.ts';
import { type WaitOptions, waitUntil } from './testing/wait-until.ts';

export type { ContainerProgram, RunningContainer } from './testing/run-containers.ts';

export interface HubSetup {
  /** How many clusters join, as `cluster1`, `cluster2` …, or their names. Default: 1. */
  readonly clusters?: number | readonly string[] | undefined;
  /** false: a hub without OCM's kinds, whose clusters have no agents. Default: true. */
  readonly ocm?: boolean | undefined;
  /**
   * true: add-ons are installed on the clusters that `decide` gives the placements of their strategy, and have at once, without
   * rollouts, the configurations that they, their placement and their ClusterManagementAddOn name. Default: false.
   */
  readonly placements?: boolean | undefined;
  /** true: add-ons of AddOnTemplates are also deployed and registered, as by `berth serve --addons`. Default: false. */
  readonly templates?: boolean | undefined;
  /**
   * What runs in the place of an image. Where a Deployment or a DaemonSet of a cluster has a container with the image,
   * the function runs while it is there, once its Secrets are. Other containers run nothing, and are ready.
   */
  readonly programs?: Readonly<Record<string, ContainerProgram>> | undefined;
  /** How long `waitFor` waits. Default: 4.5 s, because vitest and jest end a test after 5 s. */
  readonly patienceMs?: number | undefined;
  /** Of the hub and the agents. Default: none. */
  readonly log?: Logger | undefined;
}

export interface HubWorld {
  /** The hub, as its administrator. */
  readonly hub: HttpKubeApi;
  /** The first cluster, as its administrator. */
  readonly cluster: HttpKubeApi;
  /** All clusters, by name. */
  readonly clusters: ReadonlyMap<string, HttpKubeApi>;
  /** Files for other programs, such as kubectl. They are gone after the test. */
  readonly kubeconfigs: { readonly hub: string; readonly clusters: ReadonlyMap<string, string> };
  /** Aborts when the test ends. */
  readonly signal: AbortSignal;
  /** Lets a placement select these clusters, in the place of a scheduler. Makes it if it is not there: `NAMESPACE/NAME`. */
  readonly decide: (placement: string, clusters: readonly string[]) => Promise<void>;
  /**
   * Runs something beside the test, such as the add-on's manager, until the signal aborts. What it throws fails the
   * test.
   */
  readonly run: (task: (signal: AbortSignal) => Promise<unknown>) => void;
  /**
   * Asks again until the answer is truthy, and returns it. What the question throws counts as no.
   * @throws Error with the last answer, when the time is over or a task or program has failed
   */
  readonly waitFor: <T>(question: () => T | Promise<T>, options?: WaitOptions) => Promise<NonNullable<T>>;
}

const PATIENCE_MS = 4_500;

/**
 * Runs a test with a hub and clusters that have joined it. Everything is real but the containers: the API servers, the
 * agents that apply ManifestWorks, ask for certificates and judge leases, the certificates and rights. All of it is in
 * this process and in memory, and is closed when the test ends, also if it fails. It needs no test runner.
 * @returns what the test returns
 * @throws what the test, or what it runs beside it, throws; Error when that does not end with its signal
 */
export async function withHub<T>(test: (world: HubWorld) => Promise<T>, setup: HubSetup = {}): Promise<T> {
  const closers: (() => Promise<unknown> | void)[] = [];
  try {
    const { world, failed } = await openWorld(setup, closers);
    return await Promise.race([test(world), failed]);
  } finally {
    await closeAll(closers);
  }
}

/** In the reverse order. One that fails does not keep the others open. */
async function closeAll(closers: readonly (() => Promise<unknown> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of [...closers].reverse())
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0];
}

async function openWorld(
  setup: HubSetup,
  closers: (() => Promise<unknown> | void)[],
): Promise<{ readonly world: HubWorld; readonly failed: Promise<never> }> {
  const { ocm = true, log = SILENT_LOG, programs = {}, patienceMs = PATIENCE_MS } = setup;
  const names = namesOf(setup.clusters ?? 1);
  const failure = new FirstFailure();
  const folder = makeFolder(closers);
  const options = { dataDir: folder, members: names, log, onFatal: (error: unknown) => failure.note(error) };
  const server = await startHub({ ...options, ...(ocm && { kinds: OCM_HUB_KINDS }) });
  closers.push(() => server.close());
  const clock = systemClock;
  const connect = (file: string): HttpKubeApi => {
    const api = new HttpKubeApi({ config: loadKubeConfig({ file }), clock });
    closers.push(() => api.close());
    return api;
  };
  const hub = connect(server.adminKubeconfigPath);
  const clusters = new Map(names.map((name) => [name, connect(server.memberKubeconfigPath(name))]));
  const members = await startMembers({ hub: server, names, agents: ocm, clock, log, readyAfterMs: 0 });
  closers.push(() => members.close());
  const stop = new AbortController();
  const { signal } = stop;
  const tasks: Promise<void>[] = [];
  const run: HubWorld['run'] = (task) => void tasks.push(task(signal).then(noResult, failure.note));
  closers.push(() => (stop.abort(), whenEnded(tasks)));
  const problems = new Set<string>();
  const onProblem = (problem: string): unknown => problems.add(problem);
  if (Object.keys(programs).length > 0)
    for (const [clusterName, cluster] of clusters)
      run((over) => new ContainerRunner({ programs, clusterName, cluster, clock, log, onProblem }).run(over));
  const { placements = false, templates = false } = setup;
  if (placements || templates) run((over) => runAddOnControllers({ hub, log, templates }, over));
  const world: HubWorld = {
    decide: (placement, chosen) => decidePlacement(hub, placement, chosen),
    ...{ hub, clusters, signal, run, cluster: [...clusters.values()][0] ?? hub },
    kubeconfigs: {
      hub: server.adminKubeconfigPath,
      clusters: new Map(names.map((name) => [name, server.memberKubeconfigPath(name)])),
    },
    waitFor: (question, wait) =>
      waitUntil(question, { what: wait?.what, patienceMs: wait?.patienceMs ?? patienceMs }, async () => [
        ...problems,
        ...(ocm ? await addOnProblems(hub) : []),
      ]),
  };
  return { world, failed: failure.happened };
}

/** What the conditions of add-ons say is wrong. */
async function addOnProblems(hub: HttpKubeApi): Promise<readonly string[]> {
  const { items } = await hub.list(MANAGED_CLUSTER_ADDON).catch(() => ({ items: [] }));
  return (items as unknown as readonly ManagedClusterAddOn[]).flatMap(({ metadata, status }) =>
    (status?.conditions ?? [])
      .filter((condition) => condition.status === 'False' && condition.type !== 'Progressing')
      .map(
        ({ type, message }) =>
          `add-on ${metadata.name} on ${metadata.namespace}: ${type} is False: ${message}`,
      ),
  );
}

const STOP_MS = 5_000;

/** @throws Error if one goes on although its signal has aborted */
async function whenEnded(tasks: readonly Promise<void>[]): Promise<void> {
  const over = new AbortController();
  const limit = sleep(systemClock, STOP_MS, over.signal).then(() => 'late');
  const first = await Promise.race([Promise.all(tasks), limit]);
  over.abort();
  if (first === 'late')
    throw new Error(
      `something that the test runs has not ended ${STOP_MS / 1_000} s after its signal aborted`,
    );
}

/** The first thing that went wrong beside the test. */
class FirstFailure {
  readonly happened: Promise<never>;
  readonly note: (error: unknown) => void;

  constructor() {
    let note: (error: unknown) => void = noResult;
    this.happened = new Promise((_, reject) => (note = reject));
    this.note = note;
    // It may happen before, or after, somebody waits for it.
    this.happened.catch(noResult);
  }
}

function noResult(): void {}

function namesOf(clusters: number | readonly string[]): readonly string[] {
  return typeof clusters === 'number'
    ? Array.from({ length: clusters }, (_, index) => `cluster${String(index + 1)}`)
    : clusters;
}

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';

/** In memory where the system has a folder for that. It goes at the end, also if a test runner ends the process before. */
function makeFolder(closers: (() => void)[]): string {
  const folder = mkdtempSync(join(isWritable(MEMORY) ? MEMORY : tmpdir(), 'berth-test-hub-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  closers.push(() => {
    process.off('exit', remove);
    remove();
  });
  return folder;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
