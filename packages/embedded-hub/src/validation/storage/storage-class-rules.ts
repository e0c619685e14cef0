import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { FieldReporter, KindRules } from '../values/field-reporter.ts';
import { semanticEqual } from '../values/semantic-equal.ts';

const CLASS_RECLAIM = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const MAX_PARAMETERS = 512;

/**
 * Source: pkg/apis/storage/validation (ValidateStorageClass). The strategy of the kind checks
 * immutable fields.
 */
export const STORAGE_CLASS_RULES: KindRules = {
  metadataChecks: 4,
  validate: (storageClass, at) => {
    const provisioner = textAt(storageClass, 'provisioner');
    if (provisioner === '') at.at('provisioner').required();
    else
      for (const detail of qualifiedName(provisioner.toLowerCase()))
        at.at('provisioner').invalid(provisioner.toLowerCase(), detail);
    const parameters = Object.keys(objectAt(storageClass, 'parameters') ?? {});
    if (parameters.length > MAX_PARAMETERS) at.at('parameters').tooLong(MAX_PARAMETERS);
    else if (parameters.includes('')) at.at('parameters').invalid('', 'field can not be empty.');
    at.at('reclaimPolicy').oneOfIfSet(textAt(storageClass, 'reclaimPolicy'), CLASS_RECLAIM);
    at.at('volumeBindingMode').oneOfIfPresent(getOwn(storageClass, 'volumeBindingMode'), BINDING_MODES);
    checkTopologies(storageClass, at);
  },
};

function checkTopologies(storageClass: JsonObject, at: FieldReporter): void {
  const seen: JsonObject[] = [];
  at.each(storageClass, 'allowedTopologies', (term, place) => {
    checkTopology(term, place);
    // The API server also compares each term with as many empty terms as there are terms.
    const blank = listAt(term, 'matchLabelExpressions').length === 0;
    const known =
      seen.filter((one) => semanticEqual(one, term)).length +
      (blank ? listAt(storageClass, 'allowedTopologies').length : 0);
    for (let count = 0; count < known; count += 1) place.at('matchLabelExpressions').duplicate('');
    seen.push(term);
  });
}

function checkTopology(term: JsonObject, at: FieldReporter): void {
  const keys = new Set<string>();
  at.each(term, 'matchLabelExpressions', (requirement, place) => {
    const values = textsAt(requirement, 'values');
    if (values.length === 0) place.at('values').required();
    for (const [index, value] of values.entries())
      if (values.indexOf(value) < index) place.at('values').at(index).duplicate(value);
    const key = textAt(requirement, 'key');
    place.at('key').validName(key, qualifiedName);
    if (keys.has(key)) place.at('key').duplicate(key);
    keys.add(key);
  });
}
