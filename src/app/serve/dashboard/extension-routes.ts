import { readFile } from 'node:fs/promises';
import { Router, type Request } from 'express';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import { isBoundTo, type TokenGrant } from '../../../../plugin/tokens/token-grant.ts';
import { packageRoot } from '../../../adapters/program/package-root.ts';
import {
  ApplicationReader,
  type AskedApplication,
} from '../../../controllers/dashboard/application-reader.ts';
import type { DashboardReader } from '../../../controllers/dashboard/dashboard-reader.ts';
import type { OpenPlan } from '../../../core/dashboard/application-view.ts';
import type { ReportedPlan } from '../../../core/preview/report/report-page.ts';
import type { PublishedPlacement } from '../../../core/publish/pages/published-placements.ts';
import { setsOf } from '../http/controller-http.ts';
import type { ControllerHttpOptions } from '../http/controller-http-options.ts';
import { requireScope } from '../http/controller-routes.ts';
import { KeptJson, sendZipped } from './kept-json.ts';

/** What `npm run build` makes, and argocd-extension-installer downloads. */
const FILES = ['extension.tar.gz', 'extension_checksums.txt'];
/** `NAMESPACE:NAME`, as Argo CD's proxy has checked it. */
const APPLICATION = /^([a-z0-9][-a-z0-9]{0,62}):([a-z0-9][-.a-z0-9]{0,252})$/;
/** What an answer contains follows from its key alone. */
const NOTHING_ELSE = { namespaces: new Set<string>(), allClusters: false };
const PROJECT = /^[A-Za-z0-9][-._A-Za-z0-9]{0,252}$/;

/**
 * What the extension of Argo CD needs: its files, which everybody may have, and what its proxy asks with a token of its own and
 * headers about an Application that the user may see.
 * Source of the headers: argo-cd 3.6 `server/extension/extension.go`.
 */
export function extensionRoutes(
  parts: ControllerHttpOptions,
  tokens: Pick<BearerTokens, 'identify'>,
  reader: DashboardReader,
): Router {
  const routes = Router();
  for (const name of FILES)
    routes.get(`/${name}`, async (_request, response) => {
      const file = await readFile(new URL(`dist/extension/${name}`, packageRoot())).catch(() => undefined);
      if (file === undefined)
        response.status(503).type('text').send('the extension is not built: npm run build');
      else response.type(name.endsWith('.txt') ? 'text' : 'application/gzip').send(file);
    });
  const { argocd, api, http } = parts.options;
  if (argocd?.extension !== true) return routes;
  const { inventory, publishedPlacements: published } = parts;
  const openPlans = openPlansOf(parts);
  const isInSets = setsOf(inventory);
  const argocdNamespace = argocd.namespace;
  const applications = new ApplicationReader({
    api,
    inventory,
    published,
    reader,
    argocdNamespace,
    openPlans,
  });
  const kept = new KeptJson();
  routes.get('/application', requireScope(tokens, 'extension'), async (request, response) => {
    const asked = askedOf(request);
    const grant = tokens.identify(request) as TokenGrant;
    const find = async () => {
      const view =
        asked && (await applications.read({ ...asked, mayRead: (one) => mayRead(one, grant, isInSets) }));
      return view && { ...view, dashboard: http?.publicUrl?.replace(/\/+$/, '') };
    };
    const key = { path: JSON.stringify([asked, grant.name]), revision: reader.revision };
    const found = await kept.get(key, NOTHING_ELSE, find);
    if (found !== undefined) return sendZipped(request, response, found);
    response.status(404).json({ message: 'there is no such Application in this project' });
  });
  return routes;
}

function askedOf({ headers }: Request): Omit<AskedApplication, 'mayRead'> | undefined {
  const { 'argocd-application-name': application, 'argocd-project-name': project } = headers;
  const [, namespace = '', name = ''] = APPLICATION.exec(String(application)) ?? [];
  return name === '' || !PROJECT.test(String(project))
    ? undefined
    : { namespace, name, project: String(project) };
}

/** As the plugin endpoint decides it: all or nothing of a placement. */
function mayRead(
  { placement, groups }: PublishedPlacement,
  { namespaces, clusterSets }: TokenGrant,
  isInSets: ReturnType<typeof setsOf>,
): boolean {
  if (!isBoundTo(namespaces, placement.replace(/\/.*/, ''))) return false;
  if (clusterSets === 'any') return true;
  return groups.every(({ decisions }) =>
    decisions.every(({ clusterName }) => isInSets(clusterName, clusterSets)),
  );
}

/** Read again when one was written, opened or closed. */
function openPlansOf({ previews }: ControllerHttpOptions): () => Promise<readonly OpenPlan[]> {
  let [known, of]: [Promise<readonly OpenPlan[]> | undefined, string] = [undefined, ''];
  previews?.reports.written.subscribe(() => {
    known = undefined;
  });
  const read = async (source: string, number: string): Promise<readonly OpenPlan[]> => {
    const stored = await previews?.reports.read(source, `${number}.json`);
    const report = stored && (JSON.parse(stored.toString('utf8')) as ReportedPlan);
    if (report?.outcome.kind !== 'planned') return [];
    const { placements } = report.outcome.plan;
    return [{ number: Number(number), url: report.pullRequest?.url, plan: { placements } }];
  };
  return async () => {
    const open = previews?.open() ?? [];
    const key = JSON.stringify(open);
    if (key !== of) known = undefined;
    of = key;
    known ??= Promise.all(open.map(({ source, number }) => read(source, number))).then((all) => all.flat());
    return known;
  };
}
