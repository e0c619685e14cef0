import { type RequestHandler, Router } from 'express';
import { placementGate } from '../../../core/publish/judge/placement-gate.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';

/**
 * `GET /placements/NAMESPACE/NAME`: whether a promotion that depends on the placement may continue
 * (`placementGate`), as JSON `{open, reasons}`. With `?fail` a closed gate responds with 409, for
 * clients that check only the status code.
 */
export function gateRoutes({ inventory }: ControllerHttpOptions, requireApi: RequestHandler): Router {
  const gates = Router();
  gates.use(requireApi);
  gates.get('/placements/:namespace/:name', (request, response) => {
    const { namespace, name } = request.params;
    const found = inventory
      .snapshot()
      .placements.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (found === undefined) {
      response.status(404).json({ message: `there is no Placement ${namespace}/${name}` });
      return;
    }
    const { open, reasons } = placementGate(found, inventory.problemFor(found));
    const status = !open && 'fail' in request.query ? 409 : 200;
    response.status(status).json({ placement: `${namespace}/${name}`, open, reasons });
  });
  return gates;
}
