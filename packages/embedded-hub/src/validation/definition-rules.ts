import { dns1035Label } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../json/json-value.ts';
import { listAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import { checkReviewVersions, checkWebhookClient } from './values/webhook-client-rules.ts';
import type { KindRules } from './values/kind-rules.ts';
import type { FieldReporter } from './values/field-reporter.ts';

/** Checks `spec.conversion`. Messages name the fields as the API server's internal version does. */
function checkConversion(conversion: JsonObject, at: FieldReporter): void {
  const strategy = textAt(conversion, 'strategy');
  at.at('strategy').oneOf(strategy, ['None', 'Webhook']);
  const webhook = objectAt(conversion, 'webhook');
  const client = objectAt(webhook, 'clientConfig');
  const place = at.at('webhookClientConfig');
  if (strategy !== 'Webhook') {
    if (client !== undefined) place.forbidden('should not be set when strategy is not set to Webhook');
    if (listAt(webhook, 'conversionReviewVersions').length > 0)
      at.at('conversionReviewVersions').forbidden('should not be set when strategy is not set to Webhook');
    return;
  }
  if (client === undefined) place.required('required when strategy is set to Webhook');
  else checkWebhookClient(client, place);
  checkReviewVersions(webhook ?? {}, 'conversionReviewVersions', at);
}

/** A CustomResourceDefinition. The strategy of the kind checks the schema. */
export const DEFINITION_RULES: KindRules = {
  anyFinalizer: true,
  validate: (definition, at) => {
    const spec = objectAt(definition, 'spec');
    const names = at.at('spec').at('names');
    for (const list of ['shortNames', 'categories'])
      for (const [index, name] of textsAt(objectAt(spec, 'names'), list).entries())
        names.at(list).at(index).validName(name, dns1035Label);
    const conversion = objectAt(spec, 'conversion');
    if (conversion !== undefined) checkConversion(conversion, at.at('spec').at('conversion'));
  },
};
