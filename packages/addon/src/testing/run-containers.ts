import { Reflector } from '@berth/kube/cache/reflector';
import { DEPLOYMENT, kind, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';

/** Runs until the signal aborts. If it throws or returns before, it is started again, as a kubelet does. */
export type ContainerProgram = (container: RunningContainer) => Promise<unknown>;

/** What a program finds in its container. */
export interface RunningContainer {
  /** The cluster that it runs on, as its administrator. */
  readonly cluster: KubeApi;
  readonly clusterName: string;
  /** Of the workload. */
  readonly namespace: string;
  readonly workload: string;
  /** The command and its arguments. */
  readonly args: readonly string[];
  /** The variables with a value. */
  readonly env: Readonly<Record<string, string>>;
  /** The Secret that is mounted at a path. */
  readonly mounts: Readonly<Record<string, { readonly namespace: string; readonly name: string }>>;
  /** Aborts when the workload goes, or gets another template. */
  readonly signal: AbortSignal;
}

export interface ContainerRunnerOptions {
  /** By image. */
  readonly programs: Readonly<Record<string, ContainerProgram>>;
  readonly cluster: KubeApi;
  readonly clusterName: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gets what a program threw. */
  readonly onProblem: (problem: string) => void;
}

interface PodTemplate {
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName?: string };
    }[];
  };
}

interface Container {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Started {
  readonly template: PodTemplate;
  readonly stop: AbortController;
}

const WORKLOADS = [DEPLOYMENT, kind('apps', 'v1', 'DaemonSet', 'Namespaced')];
const SECRET_RETRY_MS = 50;
const RESTART_MS = 200;

/** The kubelet of a cluster without nodes: runs functions in the place of containers, one for each workload. */
export class ContainerRunner {
  readonly #options: ContainerRunnerOptions;
  readonly #started = new Map<string, Started>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: ContainerRunnerOptions) {
    this.#options = options;
  }

  /** Resolves when the signal has aborted and all programs have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster: api, clock, log } = this.#options;
    const reflectors = WORKLOADS.map((kind) => new Reflector({ api, kind, clock, log, random: Math.random }));
    for (const { kind, store } of reflectors)
      store.onChange(({ key, after }) => this.#follow(`${kind.kind} ${key}`, after));
    await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    for (const { stop } of this.#started.values()) stop.abort();
    await Promise.all(this.#running);
  }

  #follow(key: string, workload: KubeObject | undefined): void {
    const { template = {} } = (workload?.['spec'] ?? {}) as { readonly template?: PodTemplate };
    const known = this.#started.get(key);
    if (workload !== undefined && jsonEqual(known?.template, template)) return;
    known?.stop.abort();
    this.#started.delete(key);
    if (workload === undefined || workload.metadata.deletionTimestamp !== undefined) return;
    const stop = new AbortController();
    this.#started.set(key, { template, stop });
    for (const container of template.spec?.containers ?? []) {
      const program = this.#options.programs[container.image ?? ''];
      if (program === undefined) continue;
      const running = this.#keepRunning(program, containerOf(workload, template, container), stop.signal);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    }
  }

  async #keepRunning(program: ContainerProgram, found: FoundContainer, signal: AbortSignal): Promise<void> {
    const { cluster, clusterName, clock, onProblem } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#whenMounted(found, signal);
        if (!signal.aborted) await program({ cluster, clusterName, signal, ...found });
      } catch (error) {
        const { workload, namespace } = found;
        if (!signal.aborted)
          onProblem(`the program of ${namespace}/${workload} on ${clusterName} failed: ${errorText(error)}`);
      }
      await sleep(clock, RESTART_MS, signal);
    }
  }

  async #whenMounted({ mounts }: FoundContainer, signal: AbortSignal): Promise<void> {
    for (const secret of Object.values(mounts))
      while (!signal.aborted && (await this.#options.cluster.get(SECRET, secret)) === undefined)
        await sleep(this.#options.clock, SECRET_RETRY_MS, signal);
  }
}

type FoundContainer = Omit<RunningContainer, 'cluster' | 'clusterName' | 'signal'>;

function containerOf({ metadata }: KubeObject, template: PodTemplate, container: Container): FoundContainer {
  const { namespace = '', name: workload } = metadata;
  const secrets = new Map(template.spec?.volumes?.map(({ name, secret }) => [name, secret?.secretName]));
  const mounts = (container.volumeMounts ?? []).flatMap(({ name: volume, mountPath }) => {
    const name = secrets.get(volume);
    return name === undefined ? [] : [[mountPath, { namespace, name }] as const];
  });
  const env = (container.env ?? []).flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    ...{ namespace, workload },
    args: [...(container.command ?? []), ...(container.args ?? [])],
    env: Object.fromEntries(env),
    mounts: Object.fromEntries(mounts),
  };
}
