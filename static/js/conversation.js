/** Entry point of the conversation page. The other modules are imported by path, so that each is loaded only once. */
import "./connection.js";
import "./transcript.js";
import "./settings.js";
import "./composer.js";
import "./search.js";
import "./sidebar.js";
import "./lightbox.js";
import "./copy.js";
import "./feedback.js";
import "./marks.js";
