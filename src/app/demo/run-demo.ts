import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { createLogger } from '../../adapters/log/pino-logger.ts';
import { BugError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { CliIo, ExitCode } from '../terminal/cli-io.ts';
import type { RunningController } from '../serve/serve-controller.ts';
import { serveController } from '../serve/serve-controller.ts';
import { callPluginEndpoint } from './call-plugin-endpoint.ts';
import type { DemoClusters } from './demo-clusters.ts';
import { startDemoClusters } from './demo-clusters.ts';
import type { DemoChange, DemoRepository } from './demo-repository.ts';
import { openDemoRepository } from './demo-repository.ts';
import type { Narrator } from './narrator.ts';
import { createNarrator } from './narrator.ts';
import type { ExpectedApp } from './check-app.ts';
import { checkApp } from './check-app.ts';
import { narrateAgentEvent } from './narrate-agent-event.ts';
import { narrateControllerEvent } from './narrate-controller-event.ts';
import { waitUntil } from './wait-until.ts';

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
