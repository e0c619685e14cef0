import { describe, expect, it } from 'vitest';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { expectRest, HOUR, NO_FAULTS, Simulation } from '../app/serve/simulated-controller.ts';

/** Counts requests; at the chosen one the process dies: before the request is sent, or after it was carried out. */
class DyingApi {
  calls = 0;
  died = false;
  readonly at: number;
  readonly when: 'before' | 'after';
  readonly onDeath: () => void;

  constructor(at: number, when: 'before' | 'after', onDeath: () => void) {
    this.at = at;
    this.when = when;
    this.onDeath = onDeath;
  }

  wrap(api: KubeApi): KubeApi {
    return new Proxy(api, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        const bound = method.bind(target) as (...args: unknown[]) => unknown;
        return name === 'watch' ? bound : (...args: unknown[]) => this.#call(() => bound(...args));
      },
    });
  }

  async #call(request: () => unknown): Promise<unknown> {
    if (this.died) return never();
    this.calls += 1;
    if (this.calls !== this.at) return request();
    this.died = true;
    if (this.when === 'after') await Promise.resolve(request()).catch(() => undefined);
    this.onDeath();
    return never();
  }
}

/** A dead process does not see its answer. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

describe('kill -9 at every request', () => {
  it.each(['before', 'after'] as const)(
    '%s it was carried out: the next start brings the same state',
    async (when) => {
      let reached = true;
      let at = 1;
      for (; reached; at++) {
        const sim = new Simulation(7, NO_FAULTS);
        sim.start();
        await sim.clock.advance(120_000);
        sim.kill();
        // A new process reads a new commit and dies somewhere on the way.
        sim.commit();
        const dying = new DyingApi(at, when, () => sim.kill());
        sim.wrap = (api) => dying.wrap(api);
        sim.start();
        await sim.clock.advance(120_000);
        reached = dying.died;
        sim.wrap = (api) => api;
        if (!reached) sim.kill();
        sim.start();
        await sim.clock.advance(HOUR / 4);
        await expectRest(sim);
        sim.kill();
      }
      // The loop went through all of the way, not through a corner of it.
      expect(at).toBeGreaterThan(40);
    },
  );
});
