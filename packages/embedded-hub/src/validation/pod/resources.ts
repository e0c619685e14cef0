import type { Quantity } from '@berth/kube/model/quantity';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToInteger,
} from '@berth/kube/model/quantity';
import { dnsLabel } from '@berth/kube/model/selector/name-rules';
import { isObject, type JsonObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import {
  checkResourceQuantity,
  eachQuantity,
  quantityAt,
  checkContainerResourceName,
  isHugePage,
  isOvercommitAllowed,
} from '../values/quantity-rules.ts';

type NameCheck = (name: string, at: FieldReporter) => void;

/** Source: pkg/apis/core/validation (ValidateContainerResourceRequirements). */
export function checkResources(
  resources: JsonObject | undefined,
  claims: ReadonlySet<string>,
  at: FieldReporter,
  checkName: NameCheck = checkContainerResourceName,
): void {
  if (resources === undefined) return;
  const [limits, requests] = [objectAt(resources, 'limits'), objectAt(resources, 'requests')];
  eachQuantity(limits, at.at('limits'), (name, quantity, place) => {
    checkName(name, place);
    checkResourceQuantity(name, quantity, place);
    checkHugePage(name, quantity, place);
  });
  eachQuantity(requests, at.at('requests'), (name, quantity, place) => {
    checkName(name, place);
    checkResourceQuantity(name, quantity, place);
    checkRequest(name, quantity, quantityAt(limits, name), at);
    checkHugePage(name, quantity, place);
  });
  const names = [...Object.keys(limits ?? {}), ...Object.keys(requests ?? {})];
  if (names.some(isHugePage) && !names.includes('cpu') && !names.includes('memory'))
    at.forbidden('HugePages require cpu or memory');
  checkClaims(resources, claims, at.at('claims'));
}

function checkRequest(
  name: string,
  quantity: Quantity,
  limit: Quantity | undefined,
  at: FieldReporter,
): void {
  const mayDiffer = isOvercommitAllowed(name);
  if (limit === undefined) {
    if (!mayDiffer) at.at('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  const order = compareQuantities(quantity, limit);
  const [shown, limitText] = [formatQuantity(quantity), formatQuantity(limit)];
  if (order !== 0 && !mayDiffer)
    at.at('requests').invalid(shown, `must be equal to ${name} limit of ${limitText}`);
  else if (order > 0)
    at.at('requests').invalid(shown, `must be less than or equal to ${name} limit of ${limitText}`);
}

function checkHugePage(name: string, quantity: Quantity, at: FieldReporter): void {
  if (!isHugePage(name)) return;
  const size = parseQuantity(name.slice('hugepages-'.length));
  const bytes = size === undefined ? undefined : quantityToInteger(size);
  const value = quantityToInteger(quantity);
  const fits = bytes !== undefined && bytes > 0n && value !== undefined && value % bytes === 0n;
  if (fits) return;
  const shown = formatQuantity(quantity);
  at.invalid(shown, `${shown} is not positive integer multiple of ${name}`);
}

function checkClaims(resources: JsonObject, known: ReadonlySet<string>, at: FieldReporter): void {
  const seen = new Set<string>();
  for (const [index, claim] of listAt(resources, 'claims').entries()) {
    const place = at.at(index);
    const [name, request] = isObject(claim) ? [textAt(claim, 'name'), textAt(claim, 'request')] : ['', ''];
    if (name === '') {
      place.required();
      continue;
    }
    if (request !== '') place.at('request').validName(request, dnsLabel);
    const key = request === '' ? name : `${name}/${request}`;
    const overlaps = request === '' && [...seen].some((one) => one.startsWith(`${name}/`));
    if (seen.has(name)) place.duplicate(name);
    else if (seen.has(key) || overlaps) place.duplicate(key);
    seen.add(key);
    if (known.has(name)) continue;
    const list = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
    place.notFound(name, `must be one of the names in pod.spec.resourceClaims${list}`);
  }
}
