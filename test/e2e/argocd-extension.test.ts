import { mkdirSync } from 'node:fs';
import { findProgram } from '@berth/test-kit/needed-program';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLICATION, APPLICATION_SET } from '../../src/core/argocd/argocd-kinds.ts';
import { openArgocdFleet } from '../app/serve/dashboard/argocd-fleet.ts';
import { placement, yaml } from '../app/serve/fleet-fixture.ts';
import type { PreviewedFleet } from '../app/serve/previews/previewed-fleet.ts';
import { ArgocdPage, type PageSubject } from './argocd-page.ts';
import { checkPicture } from './kept-picture.ts';

const program = findProgram('chromium');
/** For people to look at. */
const PICTURES = new URL('../../.cache/pictures/', import.meta.url).pathname;
const HOSTILE = "'<img src=x onerror=alert(1)>' != ''";

describe.skipIf(program === undefined)('the extension of Argo CD in a browser', () => {
  let argo: PreviewedFleet;
  let browser: Browser;
  let application: object;
  let set: object;
  const complaints: string[] = [];
  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    argo = await openArgocdFleet();
    const { api } = argo.fleet.hub;
    const live = (kind: typeof APPLICATION, name: string) => api.get(kind, { namespace: 'argocd', name });
    application = { ...(await live(APPLICATION, 'web-c1')) };
    set = {
      ...(await live(APPLICATION_SET, 'web')),
      status: { resources: [{ kind: 'Application', name: 'web-c1' }] },
    };
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await argo?.close();
  });

  const withPage = async (
    version: 18 | 19,
    subject: Partial<PageSubject>,
    look: (page: Page, host: ArgocdPage) => Promise<void>,
  ): Promise<void> => {
    const host = await ArgocdPage.open(version, { backend: argo.url, token: 'a-token-of-this-test' });
    host.subject = { application, resource: application, theme: 'light', ...subject };
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('dialog', () => complaints.push('a dialog'));
    await page.goto(host.url);
    await look(page, host);
    await page.context().close();
    host.close();
    expect(complaints).toEqual([]);
  };

  it.each([
    [18, 'light'],
    [18, 'dark'],
    [19, 'light'],
    [19, 'dark'],
  ] as const)('says why, until when and by which pull request: React %i, %s', async (version, theme) => {
    await withPage(version, { theme }, async (page, host) => {
      expect(await page.evaluate('React.version')).toMatch(new RegExp(`^${version}\\.`));
      const panel = page.locator('.berth-panel');
      await panel.getByText('Placed here because team-a/web asks for 2 clusters of set prod').waitFor();
      await panel
        .getByText(/Leaves if it loses \d+ points, or it no longer has what the placement asks for/)
        .waitFor();
      await panel.getByText('PR 12 would remove it').waitFor();
      const tab = page.locator('#tab');
      await tab.getByRole('heading', { name: 'argocd/web-c1 on c1' }).waitFor();
      await tab.getByText('The cut:').waitFor();
      await tab.getByText('a cluster outside this project').first().waitFor();
      const link = tab.getByRole('link', { name: 'Open in Berth' });
      expect(await link.getAttribute('href')).toBe('https://berth.example/p/team-a/web?cluster=c1');
      await page.screenshot({ path: `${PICTURES}argocd-extension-${version}-${theme}.png` });
      if (version === 19 && theme === 'light') await checkPicture(page, 'argocd-extension');
      await panel.getByRole('button', { name: 'Show the decision' }).click();
      await page.locator('#flyout').getByRole('heading', { name: 'argocd/web-c1 on c1' }).waitFor();
      expect(host.asked[0]).toMatchObject({
        'argocd-application-name': 'argocd:web-c1',
        'argocd-project-name': 'shop',
      });
    });
  });

  it('has the same on the page of an ApplicationSet, by its first Application', async () => {
    await withPage(19, { resource: set }, async (page) => {
      await page.locator('#tab').getByText('The cut:').waitFor();
    });
  });

  it('shows no panel for an Application that no ApplicationSet made, and asks nothing', async () => {
    const resource = { ...set, status: {} };
    const plain = { metadata: { namespace: 'argocd', name: 'plain' }, spec: { project: 'shop' } };
    await withPage(18, { application: plain, resource }, async (page, host) => {
      await page.getByText('This ApplicationSet has made no Application yet.').waitFor();
      expect(await page.locator('.berth-panel').count()).toBe(0);
      expect(host.asked).toEqual([]);
    });
  });

  it('shows what others write as text', async () => {
    const predicates = [{ requiredClusterSelector: { celSelector: { celExpressions: [HOSTILE] } } }];
    argo.fleet.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 2, predicates })) });
    await withPage(19, {}, async (page) => {
      await expect
        .poll(async () => {
          await page.reload();
          await page.locator('#tab').getByText('The cut:').waitFor();
          return page.getByText(HOSTILE).count();
        })
        .toBe(2);
      expect(await page.locator('img').count()).toBe(0);
    });
  });

  it('says what is wrong if Argo CD or Berth refuses', async () => {
    const other = { ...application, spec: { project: 'other' } };
    const host = await ArgocdPage.open(19, { backend: argo.url, token: 'a-token-of-this-test' });
    host.subject = { application: other, resource: other, theme: 'light' };
    const page = await browser.newPage();
    await page.goto(host.url);
    await page.locator('.berth-panel').getByText('there is no such Application in this project').waitFor();
    await page.route('**/extensions/berth/**', (route) =>
      route.fulfill({ status: 401, body: 'Unauthorized extension request' }),
    );
    await page.reload();
    await page.locator('#tab').getByText('your role needs “extensions, invoke, berth”').waitFor();
    await page.close();
    host.close();
  });
});
