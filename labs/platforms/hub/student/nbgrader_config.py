"""nbgrader settings of a student's server: the course, the exchange and the student's name."""

import os

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = os.environ["COURSE_ID"]
c.Exchange.root = os.environ["COURSE_EXCHANGE"]
# All servers run as one user, so nbgrader cannot ask the system for the student's name.
c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]
