/** util/intstr IntOrString: a JSON number or a string (`"25%"`). */
export type IntOrString = number | string;
