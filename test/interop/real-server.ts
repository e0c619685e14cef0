import { createScheme } from '@berth/embedded-hub/scheme/create-scheme';
import { definitionFromCrd } from '@berth/embedded-hub/scheme/crd';
import type { Scheme } from '../../packages/embedded-hub/src/scheme/scheme.ts';
import { carrierDefinition } from '../../packages/embedded-hub/test/conformance/validation/embedded-server.ts';
import { NAMESPACE } from '../../packages/embedded-hub/test/conformance/validation/good-objects.ts';
import type { Send } from '../../packages/embedded-hub/test/conformance/validation/write-cases.ts';
import { createCrds } from './create-crds.ts';
import { OCM_HUB_KINDS, ocmCrds } from '@berth/ocm/definition/ocm-crds';
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
  const scheme = createScheme(OCM_HUB_KINDS);
  scheme.register(definitionFromCrd(carrierDefinition()));
  const send: Send = (method, path, body, type) =>
    client.call(method, path, body, type).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      return { status: NO_ANSWER, body: {} };
    });
  return { scheme, send };
}
