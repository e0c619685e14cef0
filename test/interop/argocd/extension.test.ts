import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argoExtensionObjects } from '../../../plugin/install/argo-connection.ts';
import { headersOf, openArgocdFleet } from '../../app/serve/dashboard/argocd-fleet.ts';
import type { PreviewedFleet } from '../../app/serve/previews/previewed-fleet.ts';
import { installedScript } from '../../e2e/argocd-page.ts';
import { ARGO_CONTROLLER_PROGRAMS } from '../peers/argocd-controller.ts';
import { type ArgoServer, startArgoServer } from '../peers/argocd-server.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { clusterSecret, inArgo, SECRET, SERVER_RIGHTS } from './argo-installation.ts';

/** Where argocd-server looks for extensions. */
const EXTENSIONS = '/tmp/extensions';

describe.skipIf(!hasPeers(...ARGO_CONTROLLER_PROGRAMS))('Argo CD’s own server and the extension', () => {
  let argo: PreviewedFleet;
  let server: ArgoServer;
  const [dir, own] = [
    mkdtempSync(join(tmpdir(), 'berth-argocd-')),
    `${EXTENSIONS}/berth-test-${process.pid}`,
  ];

  beforeAll(async () => {
    argo = await openArgocdFleet();
    const { api, kubeconfig } = argo.fleet.hub;
    const connection = {
      namespace: 'argocd',
      name: 'berth',
      baseUrl: argo.url,
      token: 'a-token-of-this-test',
    };
    const [secret, , settings] = argoExtensionObjects(connection);
    await api.create(
      SECRET,
      inArgo('v1', 'Secret', 'argocd-secret', { stringData: { 'server.secretkey': 'x' } }),
    );
    await api.create(SECRET, secret as KubeObject);
    const { data } = settings as KubeObject & { readonly data: object };
    await api.create(CONFIG_MAP, inArgo('v1', 'ConfigMap', 'argocd-cm', { data }));
    for (const name of ['c1', 'c2']) await api.create(SECRET, clusterSecret(name));
    for (const [kind, object] of SERVER_RIGHTS) await api.create(kind, object);
    mkdirSync(own, { recursive: true });
    writeFileSync(`${own}/extension-berth.js`, await installedScript(`${argo.url}/argocd`));
    server = await startArgoServer(dir, kubeconfig, ['--enable-proxy-extension']);
  });
  afterAll(async () => {
    await server?.stop();
    await argo?.close();
    for (const folder of [dir, own]) rmSync(folder, { recursive: true, force: true });
  });
  const ask = (headers: Record<string, string>) =>
    fetch(`${server.url}/extensions/berth/argocd/application`, { headers });

  it('serves the script to its pages', async () => {
    const text = await (await fetch(`${server.url}/extensions.js`)).text();
    expect(text).toContain('registerStatusPanelExtension');
  });

  it('asks Berth with the token of its Secret, whatever a browser sends', async () => {
    const hostile = {
      authorization: 'Bearer wrong',
      cookie: 'argocd.token=wrong',
      'argocd-target-cluster-name': 'c9',
    };
    for (const more of [{}, hostile]) {
      const response = await ask({ ...headersOf('argocd:web-c1'), ...more });
      expect(response.status).toBe(200);
      const { places } = (await response.json()) as {
        readonly places: readonly { readonly because: string }[];
      };
      expect(places[0]?.because).toContain('team-a/web asks for 2 clusters');
    }
  });

  it.each([
    ['another project', headersOf('argocd:web-c1', 'default'), 401],
    ['an Application whose cluster its project may not use', headersOf('argocd:web-c2'), 401],
    ['an Application that does not exist', headersOf('argocd:none'), 401],
    ['no headers', {}, 400],
  ])('refuses %s', async (_name, headers, want) => {
    expect((await ask(headers)).status).toBe(want);
  });
});
