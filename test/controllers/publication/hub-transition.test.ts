import { beforeEach, describe, expect, it } from 'vitest';
import { HubTransition } from '../../../src/controllers/publication/hub-transition.ts';
import type { PlacementMove } from '../../../src/core/transition/unfinished-transition.ts';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { InputError, TransientError } from '@berth/runtime/errors';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const KEY = { namespace: 'berth-system', name: 'berth-fleet-moves' };
const moves = (...added: readonly string[]): readonly PlacementMove[] => [
  { placement: 'team-a/web', uid: 'u', added, removed: ['c1'] },
];

/** Every request gets this error. */
class FailingApi extends InterceptedKubeApi {
  error: Error | undefined;
  protected override async read<T>(request: () => Promise<T>): Promise<T> {
    if (this.error !== undefined) throw this.error;
    return request();
  }
  protected override write<T>(request: () => Promise<T>): Promise<T> {
    return this.read(request);
  }
}

describe('the moves that a leader leaves on the hub', () => {
  let hub: FakeKubeApi;
  let log: SilentLogger;
  beforeEach(() => {
    [hub, log] = [new FakeKubeApi(), new SilentLogger()];
    hub.addKind({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true });
  });
  const leader = (api: KubeApi = hub) => new HubTransition(api, 'berth-system/berth-fleet', log);

  const warnings = () => log.entries.filter(({ level }) => level === 'warn').length;

  it('are read by the next one', async () => {
    const first = leader();
    expect(await first.read()).toEqual([]);
    await first.write(moves('c2'));
    expect(await leader().read()).toEqual(moves('c2'));
    await first.write([]);
    expect(await leader().read()).toEqual([]);
  });

  it('are not written where there is nothing to write', async () => {
    const first = leader();
    await first.write([]);
    expect(hub.writes).toEqual([]);
    await first.write(moves('c2'));
    await first.write(moves('c2'));
    expect(hub.writes).toHaveLength(1);
  });

  it('are those of the last write, though nothing waits for the one before', async () => {
    const first = leader();
    await Promise.all([first.write(moves('c2')), first.write([]), first.write(moves('c3'))]);
    expect(await leader().read()).toEqual(moves('c3'));
  });

  it('are written over those of another process, and also when somebody deleted them', async () => {
    const [first, next] = [leader(), leader()];
    await first.write(moves('c2'));
    await next.write(moves('c3'));
    await first.write(moves('c4'));
    expect(await leader().read()).toEqual(moves('c4'));
    await hub.delete(CONFIG_MAP, KEY);
    // The hub refuses this one, because it changes an object that is gone.
    await first.write(moves('c5'));
    await first.write(moves('c6'));
    expect(await leader().read()).toEqual(moves('c6'));
  });

  it('are none where they are damaged', async () => {
    await leader().write(moves('c2'));
    for (const text of ['!', 'H4sI', Buffer.from('[]').toString('base64')]) {
      await hub.mergePatch(CONFIG_MAP, KEY, { binaryData: { 'moves.json.gz': text } });
      expect(await leader().read()).toEqual([]);
    }
  });

  it('are none where a ConfigMap cannot hold them', async () => {
    const first = leader();
    await first.write(moves('c2'));
    const random = Array.from({ length: 120_000 }, () => String(Math.random()));
    await first.write(moves(...random));
    expect(await leader().read()).toEqual([]);
    await first.write(moves(...random.slice(0, 10_000)));
    expect(await leader().read()).toEqual(moves(...random.slice(0, 10_000)));
  });

  it('cost a warning, once, where the hub refuses them, and none while it does not answer', async () => {
    const api = new FailingApi(hub);
    const first = leader(api);
    api.error = new TransientError('no answer', { code: 'kube.network', subject: 'hub' });
    await expect(first.read()).rejects.toThrow('no answer');
    await first.write(moves('c2'));
    expect(warnings()).toBe(0);
    api.error = new InputError('forbidden', { code: 'kube.forbidden', subject: 'configmaps' });
    expect(await first.read()).toEqual([]);
    await first.write(moves('c2'));
    expect(warnings()).toBe(1);
    api.error = undefined;
    await first.write(moves('c3'));
    expect(await leader().read()).toEqual(moves('c3'));
  });
});
