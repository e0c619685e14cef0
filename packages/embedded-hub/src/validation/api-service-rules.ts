import { dns1035Label, dnsSubdomain, pathSegment } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, numberAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';

/** Source: kube-aggregator, pkg/apis/apiregistration/validation (ValidateAPIService). */
export const API_SERVICE_RULES: KindRules = {
  anyFinalizer: true,
  name: pathSegment,
  metadataChecks: 4,
  validate: (service, at) => {
    const spec = objectAt(service, 'spec') ?? {};
    const place = at.at('spec');
    const [group, version] = [textAt(spec, 'group'), textAt(spec, 'version')];
    const name = textAt(objectAt(service, 'metadata'), 'name');
    const wanted = `${version}.${group}`;
    const detail = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
    const prefix = textAt(objectAt(service, 'metadata'), 'generateName');
    if (prefix !== '' && prefix !== wanted) at.at('metadata').at('generateName').invalid(prefix, detail);
    if (name !== '' && pathSegment(name).length === 0 && name !== wanted)
      at.at('metadata').at('name').invalid(name, detail);
    if (group === '' && version !== 'v1')
      place.at('group').required('only v1 may have an empty group and it better be legacy kube');
    if (group !== '') place.at('group').validName(group, dnsSubdomain);
    place.at('version').validName(version, dns1035Label);
    checkPriority(spec, 'groupPriorityMinimum', 20_000, place);
    checkPriority(spec, 'versionPriority', 1000, place);
    checkServer(spec, place);
  },
};

function checkPriority(spec: JsonObject, key: string, max: number, at: FieldReporter): void {
  const priority = numberAt(spec, key) ?? 0;
  if (priority <= 0 || priority > max)
    at.at(key).invalid(priority, `must be positive and less than ${String(max)}`);
}

function checkServer(spec: JsonObject, at: FieldReporter): void {
  const [server, authority] = [objectAt(spec, 'service'), textAt(spec, 'caBundle')];
  const insecure = spec['insecureSkipTLSVerify'] === true;
  if (server === undefined) {
    const size = Buffer.from(authority, 'base64').length;
    if (authority !== '')
      at.at('caBundle').invalid(`${String(size)} bytes`, 'local APIServices may not have a caBundle');
    if (insecure)
      at.at('insecureSkipTLSVerify').invalid(true, 'local APIServices may not have insecureSkipTLSVerify');
    return;
  }
  const place = at.at('service');
  for (const key of ['namespace', 'name']) if (textAt(server, key) === '') place.at(key).required();
  const port = numberAt(server, 'port') ?? 443;
  if (port < 1 || port > 65535)
    place.at('port').invalid(port, 'port is not valid: must be between 1 and 65535, inclusive');
  if (insecure && authority !== '')
    at.at('insecureSkipTLSVerify').invalid(true, 'may not be true if caBundle is present');
}
