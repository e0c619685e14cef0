import { createScheme } from '../../src/hub/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../src/hub/scheme/crd.ts';
import type { Scheme } from '../../src/hub/scheme/scheme.ts';
import { carrierDefinition } from '../conformance/hub/validation/embedded-server.ts';
import { NAMESPACE } from '../conformance/hub/validation/good-objects.ts';
import type { Send } from '../conformance/hub/validation/write-cases.ts';
import { createCrds } from './create-crds.ts';
import { ocmCrds } from '../../src/core/ocm/ocm-crds.ts';
import type { ControlPlane } from './peers/control-plane.ts';

/** These change pods or need controllers; what is compared is what the server itself does. */
export const WITHOUT_PLUGINS =
  '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,LimitRanger,ResourceQuota';

/** kube-apiserver 1.35.4 itself crashes on some objects, e.g. an Indexed Job without completions but with a successPolicy. */
export const NO_ANSWER = 0;

/** A real server with the definitions and the namespace that recorded cases need. */
export async function prepareServer({
  client,
}: ControlPlane): Promise<{ readonly scheme: Scheme; readonly send: Send }> {
  await createCrds(client, [...ocmCrds(), carrierDefinition()]);
  await client.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const scheme = createScheme();
  scheme.register(definitionFromCrd(carrierDefinition()));
  const send: Send = (method, path, body, type) =>
    client.call(method, path, body, type).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      return { status: NO_ANSWER, body: {} };
    });
  return { scheme, send };
}
