import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentEvent } from '@berth/agent/options/agent-options';
import { MANIFEST_WORK, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Clock } from '@berth/runtime/clock/clock';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { BugError, TransientError } from '@berth/runtime/errors';
import { createLogger } from '../../adapters/log/pino-logger.ts';
import { type RunningController, serveController } from '../serve/serve-controller.ts';
import type { CliIo, ExitCode } from '../terminal/cli-io.ts';
import { type DemoClusters, startDemoClusters } from './demo-clusters.ts';
import { type DemoChange, type DemoRepository, openDemoRepository } from './demo-repository.ts';
import { createNarrator, narrateControllerEvent, type Narrator } from './narrator.ts';

export interface DemoOptions {
  readonly dataDir: string;
  readonly exampleDir: string;
  /** Exit after the last step. */
  readonly once: boolean;
  readonly version: string;
  /** Runs another `berth` command in this process, with its output indented. */
  readonly runBerth: (args: readonly string[], io: CliIo) => Promise<ExitCode>;
}

const CLUSTERS = ['cluster1', 'cluster2', 'cluster3'];
/** Timeout of a step that hangs; generous for slow machines. */
const STEP_TIMEOUT_MS = 240_000;
/** Of the answer of the plugin endpoint: the whole would fill the screen. */
const SHOWN_FIELDS = ['output', 'parameters', 'name', 'clusterName', 'placement', 'wave', 'rank', 'commit'];

/** No workload may be on a cluster under maintenance, unless it tolerates the taint. */
const DRAIN: DemoChange = {
  branch: 'main',
  subject: 'Drain cluster1 for maintenance',
  file: 'clusters/cluster1.yaml',
  edit: (document) =>
    document.setIn(['spec', 'taints'], document.createNode([{ key: 'maintenance', effect: 'NoSelect' }])),
};

const PROPOSAL: DemoChange = {
  branch: 'redis-to-prod',
  subject: 'Keep redis on production clusters',
  file: 'team-guestbook/placements/redis.yaml',
  edit: (document) => document.setIn(['spec', 'clusterSets'], document.createNode(['prod'], { flow: true })),
};

/** Runs the steps that the README describes. Resolves with 0 if all succeeded, otherwise with 1 and a message. */
export async function runDemo(io: CliIo, options: DemoOptions): Promise<ExitCode> {
  const story = new DemoStory(io, options);
  try {
    await story.run();
    if (!options.once) {
      story.printHints();
      await aborted(io.signal);
    }
    return 0;
  } catch (error) {
    if (io.signal.aborted) return 0;
    throw error;
  } finally {
    await story.close();
  }
}

class DemoStory {
  readonly #io: CliIo;
  readonly #options: DemoOptions;
  readonly #clock: Clock = systemClock;
  readonly #narrator: Narrator;
  readonly #startMs: number;
  readonly #closers: (() => Promise<void>)[] = [];
  #clusters: DemoClusters | undefined;
  #repository: DemoRepository | undefined;

  constructor(io: CliIo, options: DemoOptions) {
    this.#io = io;
    this.#options = options;
    this.#narrator = createNarrator(io, this.#clock);
    this.#startMs = this.#clock.now();
  }

  async run(): Promise<void> {
    await mkdir(this.#options.dataDir, { recursive: true, mode: 0o700 });
    const clusters = await this.#startClusters();
    const repository = await this.#openRepository();
    const drained = await repository.has(DRAIN);
    const controller = await this.#startController(clusters, repository);
    await this.#waitForApps(clusters, drained ? 'cluster2' : 'cluster1');
    await this.#drain(clusters, repository, { controller, drained });
    await this.#askArgo(controller);
    await this.#preview(repository);
    const seconds = ((this.#clock.now() - this.#startMs) / 1000).toFixed(1);
    this.#narrator.chapter(`Every step succeeded, in ${seconds} s.`);
  }

  async close(): Promise<void> {
    for (const step of this.#closers.splice(0).reverse()) await step();
  }

  async #startClusters(): Promise<DemoClusters> {
    const { dataDir } = this.#options;
    this.#narrator.chapter('1. A hub and three managed clusters, inside this process');
    const clusters = await startDemoClusters({
      dir: dataDir,
      names: CLUSTERS,
      clock: this.#clock,
      log: this.#log('hub.log'),
      onAgentEvent: (event) => narrateAgentEvent(this.#narrator, event),
    });
    this.#closers.push(() => clusters.close());
    this.#clusters = clusters;
    this.#narrator.print('hub', `Kubernetes API on ${clusters.url}, its state in ${dataDir}`);
    this.#narrator.print('cluster', `${CLUSTERS.join(', ')}: simulated, a work agent on each`);
    return clusters;
  }

  async #openRepository(): Promise<DemoRepository> {
    const { dataDir, exampleDir } = this.#options;
    this.#narrator.chapter('2. The fleet as files in Git');
    const repository = await openDemoRepository(dataDir, exampleDir);
    this.#repository = repository;
    this.#narrator.print('git', `repository ${repository.url}, made from examples/guestbook-fleet`);
    return repository;
  }

  async #startController(clusters: DemoClusters, repository: DemoRepository): Promise<RunningController> {
    const { dataDir, version } = this.#options;
    this.#narrator.chapter('3. Berth reads the commit, decides, publishes, and the agents apply');
    const tokenFile = join(dataDir, 'argocd-token');
    await writeFile(tokenFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    const controller = await serveController({
      api: clusters.hub,
      sources: [{ url: repository.url, ref: { type: 'branch', name: 'main' } }],
      dataDir: join(dataDir, 'controller'),
      clock: this.#clock,
      log: this.#log('controller.log'),
      random: Math.random,
      embedded: true,
      announcement: { name: 'berth-controller-demo', identity: 'berth-demo' },
      pollIntervalMs: 1_000,
      http: { host: '127.0.0.1', port: 0, tokenFile },
      engineVersion: version,
      env: this.#io.env,
    });
    const narrating = this.#narrateEvents(controller);
    this.#closers.push(async () => {
      await controller.close();
      await narrating;
    });
    return controller;
  }

  async #narrateEvents(controller: RunningController): Promise<void> {
    let hasSynced = false;
    for await (const event of controller.events) {
      // After the first comparison, one that finds nothing to write tells nothing new.
      const isQuiet = event.kind === 'synced' && hasSynced && event.applied + event.pruned === 0;
      hasSynced ||= event.kind === 'synced';
      if (!isQuiet) narrateControllerEvent(this.#narrator, event);
    }
  }

  async #waitForApps(clusters: DemoClusters, frontendOn: string): Promise<void> {
    const apps: ExpectedApp[] = [
      { name: 'frontend', clusters: [frontendOn], readyReplicas: 3 },
      { name: 'redis', clusters: ['cluster3'], readyReplicas: 1 },
      { name: 'metrics', clusters: CLUSTERS, readyReplicas: 1 },
    ];
    const { signal } = this.#io;
    for (const app of apps)
      await waitUntil(`guestbook/${app.name}`, () => checkApp(clusters.hub, app), {
        clock: this.#clock,
        signal,
        timeoutMs: STEP_TIMEOUT_MS,
      });
  }

  async #drain(
    clusters: DemoClusters,
    repository: DemoRepository,
    { controller, drained }: { readonly controller: RunningController; readonly drained: boolean },
  ): Promise<void> {
    this.#narrator.chapter(
      '4. A commit taints cluster1: the frontend moves, metrics tolerates it for an hour and stays',
    );
    const commit = await repository.change(DRAIN);
    const when = drained ? 'was pushed in an earlier run' : 'pushed';
    this.#narrator.print('git', `${commit.slice(0, 8)} "${DRAIN.subject}" ${when}`);
    if (drained) return;
    controller.reconcile();
    await this.#waitForApps(clusters, 'cluster2');
  }

  async #askArgo(controller: RunningController): Promise<void> {
    this.#narrator.chapter('5. What an Argo CD ApplicationSet would get from the plugin endpoint');
    const answer = await callPluginEndpoint({
      url: controller.url ?? '',
      tokenFile: join(this.#options.dataDir, 'argocd-token'),
      parameters: { namespace: 'guestbook', placement: 'frontend' },
    });
    this.#narrator.print('argocd', `POST ${controller.url}/api/v1/getparams.execute for guestbook/frontend`);
    this.#narrator.block(JSON.stringify(answer, SHOWN_FIELDS, 2));
    this.#narrator.detail('and more about the cluster: labels, claims, taints, resources and scores');
  }

  async #preview(repository: DemoRepository): Promise<void> {
    this.#narrator.chapter('6. The preview of a branch that is not merged yet');
    await repository.change(PROPOSAL);
    const args = ['plan', '--repo', repository.cloneDir, '--base', 'main', '--head', PROPOSAL.branch];
    this.#narrator.print('preview', `$ berth ${args.join(' ')}`);
    const text: string[] = [];
    const code = await this.#options.runBerth(args, captured(this.#io, text));
    this.#narrator.block(text.join(''));
    if (code !== 2)
      throw new BugError(`exit code ${code}, expected 2: the branch moves redis`, {
        code: 'demo.plan',
        subject: 'berth plan',
      });
    this.#narrator.print('preview', 'exit code 2: the merge would move workloads');
  }

  printHints(): void {
    const kubeconfig = this.#clusters?.hubKubeconfig ?? '';
    this.#narrator.chapter('The demo keeps running. Look around, push commits; Ctrl-C ends it.');
    this.#narrator.block(
      [
        `hub        ${this.#clusters?.url ?? ''}`,
        `kubeconfig ${kubeconfig}`,
        `repository ${this.#repository?.cloneDir ?? ''}`,
        '',
        `kubectl --kubeconfig ${kubeconfig} get placements,placementdecisions,manifestworks -A`,
        `kubectl --kubeconfig ${this.#clusters?.members.get('cluster2')?.kubeconfig ?? ''} get deployments -A`,
        `git -C ${this.#repository?.cloneDir ?? ''} log --oneline   # edit, commit, push origin main, and watch the effect here`,
      ].join('\n'),
    );
  }

  #log(file: string): ReturnType<typeof createLogger> {
    const stream = createWriteStream(join(this.#options.dataDir, file), { flags: 'a', mode: 0o600 });
    this.#closers.push(() => new Promise((resolve) => stream.end(resolve)));
    return createLogger({ level: 'info', stream });
  }
}

function captured(io: CliIo, text: string[]): CliIo {
  const write = (chunk: string | Uint8Array): boolean => {
    text.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
    return true;
  };
  const stream = { ...io.stdout, write };
  // Its output is shown in a block without colours.
  return { ...io, colour: false, stdout: stream, stderr: stream };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Describes what an agent did on its cluster. */
function narrateAgentEvent(narrator: Narrator, event: AgentEvent): void {
  const on = `${event.cluster}: work ${event.work}`;
  switch (event.kind) {
    case 'applied':
      narrator.print('agent', `${on} applied, ${event.objects} objects`);
      return;
    case 'failed':
      narrator.print('agent', `${on} failed: ${event.problem}`);
      return;
    case 'corrected':
      narrator.print('agent', `${on}: ${event.object} was changed by someone else; corrected`);
      return;
    case 'feedback':
      for (const [object, values] of Object.entries(event.values)) {
        const texts = Object.entries(values).map(([name, value]) => `${name}=${value}`);
        if (texts.length > 0) narrator.print('agent', `${on}: ${object} reports ${texts.join(' ')}`);
      }
      return;
    case 'deleted':
      narrator.print('agent', `${on} deleted together with its objects`);
      return;
    case 'evicted':
      narrator.print('agent', `${on} evicted, because its hub no longer has it`);
      return;
  }
}

/** The clusters where an application of the example is expected, and what its Deployment must report there. */
interface ExpectedApp {
  readonly name: string;
  readonly clusters: readonly string[];
  readonly readyReplicas: number;
}

const NAMESPACE = 'guestbook';
const DONE: CheckResult = { done: true };

/**
 * Checks the state on the hub only: decisions published, works there and nowhere else, applied,
 * available, replicas ready.
 */
async function checkApp(hub: KubeApi, app: ExpectedApp): Promise<CheckResult> {
  const decided = await decidedClusters(hub, app.name);
  if (!sameNames(decided, app.clusters))
    return missing(
      `PlacementDecisions of ${app.name} say [${decided.join(', ')}], expected [${app.clusters.join(', ')}]`,
    );
  const labelSelector = `${REPLICA_SET_LABEL}=${NAMESPACE}.${app.name}`;
  const works = (await hub.list(MANIFEST_WORK, { labelSelector })).items as unknown as ManifestWork[];
  const clusters = works.map((work) => work.metadata.namespace ?? '');
  if (!sameNames(clusters, app.clusters))
    return missing(
      `ManifestWorks of ${app.name} are on [${clusters.join(', ')}], expected [${app.clusters.join(', ')}]`,
    );
  for (const work of works) {
    const problem = workProblem(work, app.readyReplicas);
    if (problem !== undefined) return missing(`${work.metadata.namespace}/${work.metadata.name}: ${problem}`);
  }
  return DONE;
}

async function decidedClusters(hub: KubeApi, placement: string): Promise<string[]> {
  const labelSelector = `${PLACEMENT_LABEL}=${placement}`;
  const pages = await hub.list(PLACEMENT_DECISION, { namespace: NAMESPACE, labelSelector });
  return (pages.items as unknown as PlacementDecision[]).flatMap(({ status }) =>
    (status?.decisions ?? []).map(({ clusterName }) => clusterName),
  );
}

function workProblem(work: ManifestWork, readyReplicas: number): string | undefined {
  for (const type of ['Applied', 'Available']) {
    const condition = work.status?.conditions?.find((found) => found.type === type);
    if (condition?.status !== 'True') return `${type} is ${condition?.status ?? 'not reported'}`;
  }
  const values = work.status?.resourceStatus?.manifests?.flatMap(
    ({ statusFeedback }) => statusFeedback?.values ?? [],
  );
  const ready = values?.find(({ name }) => name === 'ReadyReplicas')?.fieldValue.integer;
  return ready === readyReplicas
    ? undefined
    : `ReadyReplicas is ${ready ?? 'not reported'}, expected ${readyReplicas}`;
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}

function missing(text: string): CheckResult {
  return { done: false, missing: text };
}

/** Calls the plugin endpoint as the ApplicationSet controller does. */
export async function callPluginEndpoint(request: {
  readonly url: string;
  readonly tokenFile: string;
  readonly parameters: Readonly<Record<string, string>>;
}): Promise<unknown> {
  const { url, tokenFile, parameters } = request;
  const response = await fetch(`${url}/api/v1/getparams.execute`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`,
    },
    body: JSON.stringify({ applicationSetName: 'guestbook', input: { parameters } }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok)
    throw new TransientError(`answered ${response.status}, expected 200: ${text}`, {
      code: 'demo.argocd',
      subject: url,
    });
  return JSON.parse(text);
}

/** The result of a check: done, or what is missing. */
export type CheckResult = { readonly done: true } | { readonly done: false; readonly missing: string };

const CHECK_INTERVAL_MS = 100;

/**
 * Repeats a check until it succeeds.
 * @param what the subject of the error
 * @throws TransientError with the last result after `timeoutMs`; the signal's reason when aborted
 */
export async function waitUntil(
  what: string,
  check: () => Promise<CheckResult>,
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const { clock, signal, timeoutMs } = options;
  const deadlineMs = clock.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const result = await check();
    if (result.done) return;
    if (clock.now() >= deadlineMs)
      throw new TransientError(`not reached after ${timeoutMs / 1000} s: ${result.missing}`, {
        code: 'demo.timeout',
        subject: what,
      });
    await new Promise<void>((resolve) => {
      clock.schedule(CHECK_INTERVAL_MS, resolve);
    });
  }
}
