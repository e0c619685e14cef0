import { ObjectCache } from '@berth/kube/cache/object-cache';
import { runControllers } from '@berth/kube/controller/run-controllers';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { systemClock } from '@berth/runtime/clock/system-clock';
import type { Logger } from '@berth/runtime/logger';
import { onAbort } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { AddOnCertificates } from '../manager/addon-certificates.ts';
import { AddOnDeployer } from '../manager/addon-deployer.ts';
import { AddOnRegistration } from '../manager/addon-registration.ts';
import { AddOnTokens } from '../manager/addon-tokens.ts';
import { TemplateDeployment, TemplateRegistration } from '../manager/template-source.ts';
import { PlacedAddOns } from './placed-add-ons.ts';

/**
 * Installs and configures add-ons by placements until the signal aborts.
 * @param templates also deploys and registers those of AddOnTemplates, with the controllers of `berth serve --addons`
 */
export async function runAddOnControllers(
  { hub, log, templates }: { readonly hub: KubeApi; readonly log: Logger; readonly templates: boolean },
  signal: AbortSignal,
): Promise<void> {
  const shared = { clock: systemClock, random: Math.random, log };
  const cache = new ObjectCache({ ...shared, api: hub });
  const options = { ...shared, hub, cache };
  const ofTemplates = () => [
    new AddOnRegistration(options, new TemplateRegistration(options)),
    new AddOnCertificates(options, new TemplateRegistration(options)),
    new AddOnTokens(options),
    new AddOnDeployer(options, new TemplateDeployment(options)),
  ];
  const controllers = [new PlacedAddOns(options), ...(templates ? ofTemplates() : [])];
  const running = runControllers(options, controllers, 'add-ons');
  const supervisor = new Supervisor(shared);
  cache.start(supervisor);
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  await Promise.all([running.close(), supervisor.close()]);
}
