import { PLACEMENT } from '@berth/kube/model/kinds';
import { BerthError, InputError, TransientError } from '@berth/runtime/errors';
import { json, type Request, type Response, Router } from 'express';
import { releasePlacement } from '../../../controllers/releases/release-held.ts';
import type { ServeOptions } from '../../settings/serve-options.ts';
import { type Door, refuseOtherSites } from './door.ts';

const MAX_BODY_BYTES = '1kb';

/**
 * The one action of the dashboard: `POST` with `{code}` approves what a placement holds, `GET` says whether the viewer may. The request
 * to the hub is made with the viewer's own token, so the hub decides, and its audit log names him.
 */
export function releaseRoutes(door: Door, { actAs, clock }: Pick<ServeOptions, 'actAs' | 'clock'>): Router {
  const routes = Router();
  const path = '/placements/:namespace/:name/release';
  routes.get(path, (request, response) =>
    door.admit(request, response, async (_viewer, { token }) => {
      const { namespace, name } = refOf(request);
      const allowed =
        actAs !== undefined && (await door.may(token, { verb: 'patch', kind: PLACEMENT, namespace, name }));
      response.json({ allowed });
    }),
  );
  routes.post(path, refuseOtherSites, json({ limit: MAX_BODY_BYTES }), (request, response) =>
    door.admit(request, response, async ({ username }, { token }) => {
      const ref = refOf(request);
      const { code } = (request.body ?? {}) as { readonly code?: unknown };
      if (typeof code !== 'string' || !/^[0-9a-f]{12}$/.test(code))
        return void response.status(400).json({ message: 'expected {"code": "12 hexadecimal digits"}' });
      if (actAs === undefined)
        return void response.status(501).json({ message: 'this dashboard releases nothing' });
      const placement = `${ref.namespace}/${ref.name}`;
      const hub = actAs(token);
      try {
        const releasedBy = `${username} on the dashboard at ${new Date(clock.now()).toISOString()}`;
        await releasePlacement(hub, ref, { code, releasedBy });
        door.log('released from the dashboard', { user: username, placement, code });
        response.json({ message: `released ${placement}` });
      } catch (error) {
        door.log('not released from the dashboard', { user: username, placement, code, error });
        refuse(error, response);
      } finally {
        hub.close();
      }
    }),
  );
  return routes;
}

function refOf({ params }: Request): { readonly namespace: string; readonly name: string } {
  return { namespace: String(params['namespace']), name: String(params['name']) };
}

/** What the hub says to the viewer himself. */
function refuse(error: unknown, response: Response): void {
  if (!(error instanceof BerthError)) throw error;
  const status =
    error instanceof TransientError ? 503 : !(error instanceof InputError) ? 500 : statusOf(error.code);
  response.status(status).json({ message: status === 500 ? 'internal error' : error.message });
}

function statusOf(code: string): number {
  switch (code) {
    case 'kube.forbidden':
      return 403;
    case 'kube.notfound':
    case 'release.placement':
      return 404;
    default:
      return 409;
  }
}
