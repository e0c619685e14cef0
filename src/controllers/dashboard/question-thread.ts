import { Worker } from 'node:worker_threads';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { DecisionChanges } from '@berth/placement/explain/verdict/explanation';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError, TransientError } from '@berth/runtime/errors';
import { builtProgram } from '../../adapters/program/package-root.ts';
import type { Plan } from '../../core/preview/plan.ts';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import { explainRecordMoves } from '../explanations/explain-record.ts';
import {
  type NumberedObjects,
  packSnapshot,
  SentObjects,
  type SentSnapshot,
} from '../previews/bounded/numbered-objects.ts';
import { receivedError, type SentError } from '../previews/bounded/plan-messages.ts';
import { planWhatIf, type WhatIfJob } from './what-if-job.ts';

/** Questions that wait for the one that is being answered. */
const MAX_WAITING = 20;
/** A question about ten thousand clusters takes seconds. */
const MAX_MS = 60_000;
const MAX_MEMORY_MIB = 2_048;
/** A thread that nobody asked for this time is ended, and its memory freed. */
const IDLE_MS = 10 * 60_000;

export interface WhatIfQuestion {
  readonly kind: 'what-if';
  readonly job: WhatIfJob;
  readonly hub: Snapshot;
  /** What the sources declare beside placements. */
  readonly workloads: readonly SourceObject[];
}

/** Why clusters moved: decided again from the inputs of records. The records are of one placement, oldest first. */
interface CausesQuestion {
  readonly kind: 'causes';
  readonly historyDir: string;
  readonly records: readonly Pick<CompactRecord, 'hash' | 'placement' | 'inputs'>[];
}

/** Most of the objects of a question were sent with earlier ones. */
export type SentQuestion =
  | CausesQuestion
  | (Pick<WhatIfQuestion, 'kind' | 'job'> & {
      readonly hub: SentSnapshot;
      readonly workloads: NumberedObjects;
    });

/** By the hash of the record. */
export type Causes = ReadonlyMap<string, DecisionChanges>;

/**
 * Answers what needs the engine, one question after the other, in a thread of its own and within bounds of time and memory: no
 * question delays a decision. Berth that runs from its sources has no thread, and answers in this one.
 */
export class QuestionThread {
  readonly #clock: Pick<Clock, 'schedule'>;
  #thread: Thread | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #cancelIdle: () => void = () => undefined;

  constructor(clock: Pick<Clock, 'schedule'>) {
    this.#clock = clock;
  }

  /**
   * @param question made when its turn has come
   * @throws InputError for an assumption that cannot be made, or an exceeded bound; TransientError when too many wait
   */
  plan(question: () => Promise<WhatIfQuestion>): Promise<Plan> {
    return this.#inTurn(async () => {
      const asked = await question();
      const { job, hub, workloads } = asked;
      const decider = new SideDecider();
      return this.#answer(asked, () => Promise.resolve(planWhatIf(job, hub, { workloads, decider })));
    });
  }

  /** @throws as `plan` */
  causes(historyDir: string, records: CausesQuestion['records']): Promise<Causes> {
    return this.#inTurn(() =>
      this.#answer({ kind: 'causes', historyDir, records }, () =>
        explainRecordMoves(historyDir, records, records),
      ),
    );
  }

  async close(): Promise<void> {
    this.#cancelIdle();
    await this.#thread?.end();
  }

  #inTurn<T>(answer: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING)
      return Promise.reject(
        new TransientError('too many questions wait', { code: 'dashboard.busy', subject: 'Dashboard' }),
      );
    this.#waiting++;
    const answered = this.#last.then(answer).finally(() => this.#waiting--);
    this.#last = answered.catch(() => undefined);
    return answered;
  }

  async #answer<T>(question: WhatIfQuestion | CausesQuestion, here: () => Promise<T>): Promise<T> {
    const program = builtProgram('src/controllers/dashboard/question-worker');
    if (program === undefined) return here();
    this.#cancelIdle();
    const thread = (this.#thread ??= new Thread(program));
    try {
      return (await thread.ask(question, this.#clock)) as T;
    } finally {
      if (!thread.isAlive) this.#thread = undefined;
      this.#cancelIdle = this.#clock.schedule(IDLE_MS, () => {
        if (this.#thread === thread) this.#thread = undefined;
        void thread.end();
      });
    }
  }
}

class Thread {
  readonly #worker: Worker;
  readonly #hub = new SentObjects();
  readonly #workloads = new SentObjects();
  isAlive = true;

  constructor(program: URL) {
    this.#worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB } });
    this.#worker.unref();
    this.#worker.once('exit', () => (this.isAlive = false));
  }

  async end(): Promise<void> {
    this.isAlive = false;
    await this.#worker.terminate();
  }

  ask(question: WhatIfQuestion | CausesQuestion, clock: Pick<Clock, 'schedule'>): Promise<unknown> {
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        cancel();
        worker.removeAllListeners('message').removeAllListeners('error');
        end();
      };
      const fail = (problem: string): void => {
        void this.end();
        reject(new InputError(problem, { code: 'dashboard.bound', subject: 'This question' }));
      };
      const cancel = clock.schedule(MAX_MS, () =>
        settle(() => fail(`was not answered within ${MAX_MS / 1000} s: ask on the command line`)),
      );
      worker.once('error', () => settle(() => fail('needs more memory than a question may use')));
      worker.once('message', (answer: { readonly found: unknown } | { readonly error: SentError }) =>
        settle(() => ('error' in answer ? reject(receivedError(answer.error)) : resolve(answer.found))),
      );
      worker.postMessage(this.#packed(question));
    });
  }

  #packed(question: WhatIfQuestion | CausesQuestion): SentQuestion {
    if (question.kind === 'causes') return question;
    const { kind, job, hub, workloads } = question;
    const sent = this.#workloads.pack({ workloads });
    return { kind, job, hub: packSnapshot(hub, this.#hub), workloads: sent.workloads };
  }
}
