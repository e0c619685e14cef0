import { expect, it } from 'vitest';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';

/** As kube-apiserver 1.35 does, with a watch cache and without one (test/interop/restored-hub.test.ts meets it). */
it('a watch from a version that the hub has not reached opens without an error, and shows what is after it', async () => {
  const hub = await startEmbeddedHub();
  const configMap = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  });
  const stop = new AbortController();
  try {
    const { metadata } = await hub.api.create(CONFIG_MAP, configMap('now'));
    const future = Number(metadata.resourceVersion) + 40;
    const [seen, versions]: [string[], number[]] = [[], []];
    let isOpen = false;
    const watching = (async () => {
      const options = { namespace: 'default', resourceVersion: String(future), signal: stop.signal };
      const onOpen = (): void => void (isOpen = true);
      for await (const event of hub.api.watch(CONFIG_MAP, { ...options, onOpen })) {
        if (event.type === 'bookmark') continue;
        seen.push(event.object.metadata.name);
        versions.push(Number(event.object.metadata.resourceVersion));
      }
    })();
    await expect.poll(() => isOpen).toBe(true);
    for (let n = 0; n < 60; n++) await hub.api.create(CONFIG_MAP, configMap(`c${n}`));
    await expect.poll(() => seen).toContain('c59');
    expect(seen).not.toContain('c0');
    expect(Math.min(...versions)).toBeGreaterThan(future);
    stop.abort();
    await watching;
  } finally {
    stop.abort();
    await hub.close();
  }
});
