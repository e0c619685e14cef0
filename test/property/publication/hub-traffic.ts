import { specHash } from '../../../src/core/publish/judge/decide-publication.ts';
import { placementOfPage } from '../../../src/core/publish/pages/decision-page.ts';
import type { PassPurpose } from '../../../src/core/publish/machine/state/placement-state.ts';
import { type HubRequest, KEY, type ModelHub } from './model-hub.ts';
import { digest, type InFlight, type ModelProcess } from './model-process.ts';
import type { PublicationOracle } from './publication-oracle.ts';

interface LateWrite {
  readonly process: ModelProcess;
  readonly request: Exclude<HubRequest, { kind: 'read-pages' }>;
  readonly written: Written;
}

/** What a write is for. */
interface Written {
  readonly purpose: PassPurpose | undefined;
  /** Digest of the spec that the result was decided for. */
  readonly spec: string;
}

export interface TrafficParts {
  readonly hub: ModelHub;
  readonly oracle: PublicationOracle;
  readonly random: () => number;
  readonly nowMs: () => number;
  readonly elapsedMs: () => number;
  /** The hub refuses the writes of any other. */
  readonly isLeader: (process: ModelProcess) => boolean;
  readonly isFaulty: () => boolean;
}

/** The requests between processes and their hub: they are refused, lost on the way there or back, and some arrive late. */
export class HubTraffic {
  readonly #parts: TrafficParts;
  #late: LateWrite[] = [];

  constructor(parts: TrafficParts) {
    this.#parts = parts;
  }

  /**
   * One of the requests of the process is answered, or is not.
   * @returns whether one was under way
   */
  answer(process: ModelProcess): boolean {
    const [open] = process.inFlight.splice(this.#pick(process.inFlight.length), 1);
    if (open !== undefined) this.#complete(process, open);
    return open !== undefined;
  }

  /**
   * A write that was given up arrives.
   * @returns whether there was one
   */
  arrive(): boolean {
    const [late] = this.#late.splice(this.#pick(this.#late.length), 1);
    if (late === undefined) return false;
    try {
      this.#carryOut(late.request, late.written, late.process, true);
    } catch {
      // Its page has another version by now.
    }
    return true;
  }

  #complete(process: ModelProcess, { action }: InFlight): void {
    switch (action.kind) {
      case 'yield':
        return process.send({ kind: 'resumed' });
      case 'persist':
        process.disk.state = action.state;
        return process.send({ kind: 'persisted' });
      default:
        return this.#request(process, action);
    }
  }

  #request(process: ModelProcess, request: HubRequest): void {
    const of = failedPart(request);
    const fail = (mayArrive: boolean, error: unknown = new Error('refused')): void =>
      process.send({ kind: 'failed', of, error, mayArrive });
    if (!this.#parts.isLeader(process)) return fail(false);
    const fate = this.#parts.isFaulty() ? this.#parts.random() : 1;
    if (fate < 0.06) return fail(false);
    if (fate < 0.12) return fail(true);
    if (request.kind === 'read-pages') {
      const pages = [...this.#parts.hub.pages.values()].filter((page) => placementOfPage(page) === KEY);
      return process.send({ kind: 'pages-read', pages, seen: process.seen().pages });
    }
    const written = writtenBy(process);
    if (fate < 0.18) {
      this.#late.push({ process, request, written });
      return fail(true);
    }
    try {
      const after = this.#carryOut(request, written, process, false);
      if (fate < 0.26) fail(true);
      else this.#answerWith(process, request, after);
    } catch (error) {
      fail(false, error);
    }
  }

  #answerWith(
    process: ModelProcess,
    request: LateWrite['request'],
    after: ReturnType<ModelHub['write']>,
  ): void {
    switch (request.kind) {
      case 'write-page':
        return process.send({ kind: 'page-written', after, seen: process.pages.get(request.write.page) });
      case 'fence-page':
        return after && process.send({ kind: 'page-fenced', page: after });
      case 'annotate-placement':
        return after && process.send({ kind: 'placement-annotated', after });
      case 'patch-status': {
        const seen = process.placement as unknown as NonNullable<typeof after> | undefined;
        return after && process.send({ kind: 'status-written', after, seen });
      }
    }
  }

  #carryOut(
    request: LateWrite['request'],
    { purpose, spec }: Written,
    process: ModelProcess,
    isLate: boolean,
  ): ReturnType<ModelHub['write']> {
    const before = this.#parts.hub.listed();
    const written = this.#parts.hub.write(request);
    // What is written for a placement that is gone goes with it.
    const owner = request.kind === 'write-page' ? request.placement.metadata.uid : undefined;
    const isThere = owner === this.#parts.hub.placement?.metadata.uid;
    const atMs = process.memory?.change?.atMs ?? this.#parts.nowMs();
    const [after, elapsedMs] = [this.#parts.hub.listed(), this.#parts.elapsedMs()];
    if (purpose !== undefined && isThere)
      this.#parts.oracle.wrote({ before, after, purpose, spec, atMs, elapsedMs, isLate });
    this.#parts.oracle.saw(this.#parts.hub.listed());
    return written;
  }

  /** What is under way of a process arrives now or never. */
  drop(process: ModelProcess, isAnswered = false): void {
    for (const late of this.#late.splice(0)) if (this.#parts.random() < 0.5) this.#late.push(late);
    while (this.arrive());
    for (const { action } of process.inFlight.splice(0)) {
      const written = writtenBy(process);
      // The disk of a process that lives on has what it was told to store.
      if (action.kind === 'persist' && (this.#parts.random() < 0.5 || isAnswered))
        process.disk.state = action.state;
      const isWrite = action.kind !== 'persist' && action.kind !== 'yield' && action.kind !== 'read-pages';
      if (isWrite && this.#parts.isLeader(process) && this.#parts.random() < 0.5)
        try {
          this.#carryOut(action, written, process, false);
        } catch {
          // Refused, and nobody hears of it.
        }
      if (isAnswered) this.#lose(process, action);
    }
  }

  #lose(process: ModelProcess, action: InFlight['action']): void {
    if (action.kind === 'persist') return process.send({ kind: 'persisted' });
    if (action.kind === 'yield') return process.send({ kind: 'resumed' });
    const of = failedPart(action);
    process.send({ kind: 'failed', of, error: new Error('connection lost'), mayArrive: true });
  }

  #pick(count: number): number {
    return Math.floor(this.#parts.random() * count);
  }
}

function writtenBy({ state: { pass } }: ModelProcess): Written {
  const purpose = pass?.stage.kind === 'writing' ? pass.stage.writing.purpose : undefined;
  return { purpose, spec: pass === undefined ? '' : specHash(digest, pass.result.placement) };
}

function failedPart({ kind }: HubRequest): 'status' | 'annotation' | 'pages' {
  if (kind === 'patch-status') return 'status';
  return kind === 'annotate-placement' ? 'annotation' : 'pages';
}
