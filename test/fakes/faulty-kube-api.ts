import { TransientError } from '../../src/core/errors.ts';
import type { KubeApi } from '../../src/core/ports.ts';

/**
 * A KubeApi whose writes and reads sometimes fail: before they reached the server, or after (the answer got lost). Watches
 * are left alone. `chance` may be changed at any time.
 */
export function faultyKubeApi(api: KubeApi, faults: { chance: number; random: () => number }): KubeApi {
  const unreliable = new Set(['get', 'list', 'create', 'update', 'mergePatch', 'apply', 'delete']);
  return new Proxy(api, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (typeof property !== 'string' || !unreliable.has(property)) return method;
      return async (...args: unknown[]) => {
        const draw = faults.random();
        if (draw < faults.chance / 2) throw lost(property);
        const answer = await method(...args);
        if (draw < faults.chance) throw lost(property);
        return answer;
      };
    },
  });
}

function lost(method: string): TransientError {
  return new TransientError('the connection broke (injected)', { code: 'kube.network', subject: method });
}
